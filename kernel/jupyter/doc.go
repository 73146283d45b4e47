// Package jupyter speaks the Jupyter messaging protocol (version 5.x over ZeroMQ) from both ends.
//
//   - [Message], [Decode] and [Message.Encode] turn messages into signed frames and back.
//   - [ConnectionInfo] is the connection file that tells both ends the ports and the key.
//   - [Listen] opens the kernel's side (ROUTER, PUB, REP), [Dial] the client's (DEALER, SUB).
//   - [Spec] is a kernelspec (kernel.json); [Start] runs one and returns a [Kernel] that executes code.
//
// Everything binds to and dials 127.0.0.1 unless a connection file says otherwise. Only the tcp transport and
// hmac-sha256 signatures are supported: they are what every Jupyter front end uses by default.
package jupyter
