// The command user has a tensor, and does nothing with it. TestUsersCompileLittle looks at what that takes.
package main

import "github.com/lectern-go/lectern/tensor"

func main() { println(tensor.Zeros(1)) }
