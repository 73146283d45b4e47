// Package jupyter speaks the Jupyter messaging protocol (version 5.x over ZeroMQ) from both ends.
//
//   - [Message], [Decode] and [Message.Encode] turn messages into signed frames and back.
//   - [ConnectionInfo] is the connection file that tells both ends the ports and the key.
//   - [Listen] opens the kernel's side (ROUTER, PUB, REP), [Dial] the client's (DEALER, SUB).
//   - [Spec] is a kernelspec (kernel.json); [Start] runs one and returns a [Kernel] that executes code.
//
// A kernel that [Start] runs is reached through sockets in a folder that its user alone may enter (the ipc transport),
// since iopub, on which all outputs are published, lets anybody in. A connection file of another client may
// name ports instead (tcp, Jupyter's default): then every user of the machine can read what the cells print.
// Signatures are hmac-sha256.
package jupyter
