// The command user makes a tensor, and does nothing with it. TestUsersCompileLittle checks how much code that compiles.
package main

import "github.com/lectern-go/lectern/tensor"

func main() { println(tensor.Zeros(1)) }
