// Package parallel trains one model on several machines, with goroutines as the
// machines. Each of them is a [Rank]: it has its own tensors, computes by itself, and talks
// to the others only through messages, whose bytes are counted. So everything that is said
// about large clusters can be seen and measured on a laptop.
//
//	accounts := parallel.Run(4, func(r *parallel.Rank) {
//		x := tensor.Full(float64(r.ID), 1000)
//		r.AllReduce(x) // every rank has 0+1+2+3 now
//	})
//	accounts[0].Sent // 6000 bytes: 2·(4-1)/4 of x
//
// # Collectives
//
// [Rank.AllReduce], [Rank.ReduceScatter], [Rank.AllGather] and [Rank.Broadcast] run on a ring, in which each rank sends
// only to the next one (Patarasuk and Yuan 2009, https://doi.org/10.1016/j.jpdc.2008.09.002). All ranks must call the
// same ones in the same order, with tensors of the same shape and dtype. The order of additions depends only on the
// number of ranks, so a run gives the same bits each time, and all ranks have the same bits.
//
// # Parts of a model
//
// [Rank.Average] is data parallelism: a copy of the model on each rank. [ZeRO] divides what an optimizer needs, or the
// model itself. [Rank.Enter] and [Rank.Leave] enclose layers whose columns and rows are divided: tensor parallelism.
// [Rank.Send] and [Rank.Receive] divide a model by its layers, into a pipeline; [Rank.Work] and [Account] say how long
// it waits.
package parallel
