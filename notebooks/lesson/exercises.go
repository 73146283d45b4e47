package lesson

import "math"

// exercises are the answers that [Check] compares with, by lesson and number. Neither they nor the tasks are maps, so
// that the compiler can lay them out: a program has to fill its maps as it starts, which takes a second in WebAssembly.
var exercises = []exercise{
	// 00: napkin math
	{
		key:  "0.1",
		want: 0, tolerance: []float64{0},
		hint:   "Go computes from left to right, and 1 and 2 are integers.",
		praise: "1 / 2 is already 0 when the 10 comes. 1.0 / 2 * 10 is 5.",
	},
	{
		key:  "00.1",
		want: 6 * 8e9 * 15e12 / (1979e12 / 2 * 0.4 * 256 * 86400), tolerance: []float64{0.01},
		hint:   "FLOPs are 6 · parameters · tokens; FLOP/s are dense peak · MFU · GPUs. Did you halve the 1979e12, and use an MFU of 0.4?",
		praise: "Now you know why large runs use thousands of GPUs.",
	},
	{
		key:  "00.2",
		want: 10e9, tolerance: []float64{1e-6},
		hint:   "How many bytes do two GPUs of 80e9 bytes have in all, and how many does one parameter need?",
		praise: "And that leaves nothing for activations.",
	},
	{
		key:  "00.3",
		want: 4, tolerance: []float64{1e-6},
		hint:   "6·N·D has both N and D in it. If D is 20·N, how does it grow with N?",
		praise: "Twice the model on twice the tokens: this is what makes size so expensive.",
	},
	// 01: tokenization
	{
		key:    "01.1",
		want:   1,
		hint:   "How many bytes does the text have, and how many characters?",
		praise: "On plain English, characters are no better than bytes.",
	},
	{
		key:    "01.2",
		want:   3,
		hint:   "The merge makes aa one token. Go through the text from the left and replace where you can.",
		praise: "",
	},
	{
		key:    "01.3",
		want:   50257,
		hint:   "Every token needs a row: bytes, merges and special tokens alike.",
		praise: "These are GPT-2's numbers.",
	},
	// 02: tensors
	{
		key:    "02.1",
		want:   []int{10, 8, 6, 4, 2},
		hint:   "Arange takes a start, a stop that is left out, and a step, which may be negative.",
		praise: "The stop, 0, is left out when you count down, too.",
	},
	{
		key:    "02.2",
		want:   "float32",
		hint:   "One of the numbers has a decimal point. Which type can hold them all?",
		praise: "A single decimal point makes all of them floating-point.",
	},
	{
		key:    "02.3",
		want:   131072,
		hint:   "How many elements are there, and how many bytes does each take?",
		praise: "A batch of tokens is small. What a model makes of it is not.",
	},
	// 03: number formats
	{
		key:    "03.1",
		want:   1152,
		hint:   "Two bytes for each element, and 1024·1024 bytes in a MiB.",
		praise: "",
	},
	{
		key:    "03.2",
		want:   258,
		hint:   "eps is the step at 1. At 256 the step is 256 times as long.",
		praise: "Above 256, bfloat16 has no odd numbers.",
	},
	{
		key:    "03.3",
		want:   2048,
		hint:   "The step between neighbors grows with the number. When does it exceed 1, and what does rounding to even do then?",
		praise: "That is one reason why sums are kept in float32.",
	},
	// 04: devices
	{
		key:  "04.1",
		want: 7e9 * 2 / 64e9, tolerance: []float64{0.01},
		hint:   "Two bytes for each parameter, and then bytes over bytes per second.",
		praise: "Reading the model from the GPU's own memory takes four thousandths of a second.",
	},
	{
		key:    "04.2",
		want:   4096,
		hint:   "4000 bytes, in steps of 512.",
		praise: "",
	},
	{
		key:  "04.3",
		want: (12288 * 49152 * 4 / 64e9) * 989.5e12 / (2 * 12288 * 49152), tolerance: []float64{0.01},
		hint:   "How long does copying the weight take? How many FLOPs is that at 989.5e12 per second, and how many does one token need?",
		praise: "There are two FLOPs per element and token, and four bytes per element: the size of the weight cancels.",
	},
	// 05: storage, strides, views
	{
		key:    "05.1",
		want:   15,
		hint:   "Where does the view begin? Add 3·stride(0) + 1·stride(1) to that.",
		praise: "The view has the strides of x, and an offset of 2.",
	},
	{
		key:  "05.2",
		want: []int{1, 8}, hint: "A transpose swaps the strides of a contiguous (8, 8), and nothing else changes.",
		praise: "The memory has not moved: only the path through it has changed.",
	},
	{
		key:    "05.3",
		want:   false,
		hint:   "Write down the storage index of each element in the order of the new shape. Is there one step per axis that produces them?",
		praise: "A column block has gaps between its rows, so its elements can't become one axis.",
	},
	{
		key:    "05.4",
		want:   []int{0, 1},
		hint:   "An axis that is repeated without copying takes no step in memory when its index grows.",
		praise: "A thousand rows in the memory of one.",
	},
	// 06: elementwise operations
	{
		key:    "06.1",
		want:   []int{8, 7, 6, 5},
		hint:   "Write one shape under the other, the last axes aligned; a missing axis counts as 1.",
		praise: "",
	},
	{
		key:    "06.2",
		want:   []float64{3.5, 4, 4.5},
		hint:   "Unlike Go's integers, a tensor of integers gives floating point when you divide it.",
		praise: "",
	},
	{
		key:    "06.3",
		want:   4950,
		hint:   "Everything strictly above the diagonal of 100 × 100.",
		praise: "Almost half of the table is never looked at.",
	},
	// 07: matrix multiplication
	{
		key:    "07.1",
		want:   []int{10, 3, 5},
		hint:   "The first axis is a batch; the product is taken over the last two.",
		praise: "",
	},
	{
		key:    "07.2",
		want:   1200,
		hint:   "2·B·D·K for each matrix of the batch.",
		praise: "",
	},
	{
		key:    "07.3",
		want:   500,
		hint:   "Count both products of each order: 2 times the three sizes that meet.",
		praise: "The same result for a fraction of the work: order matters.",
	},
	// 08: named dimensions
	{
		key:    "08.1",
		want:   []int{2},
		hint:   "Only the names of the result remain; the others are summed over.",
		praise: "",
	},
	{
		key:    "08.2",
		want:   []float64{12, 12},
		hint:   "How many terms are summed for each i, if both j and k are gone?",
		praise: "",
	},
	{
		key:    "08.3",
		want:   []float64{5, 7, 13, 15},
		hint:   "Split height into (h h2) and width into (w w2), keep h and w, and give h2 and w2 the size 2.",
		praise: "That is max pooling, without a special layer for it.",
	},
	// 09: counting FLOPs
	{
		key:  "09.1",
		want: 2 * 7e9 * 300 * 400, tolerance: []float64{0.5},
		hint:   "Two FLOPs for each token and parameter. A page has some 300 words, and a word is a little more than one token.",
		praise: "With 400 tokens on a page it is 1.7e15: an A100 does that in five seconds, in theory.",
	},
	{
		key:  "09.2",
		want: 3.14e20 / (312e12 * 0.5) / 3600, tolerance: []float64{0.01},
		hint:   "FLOPs divided by FLOP/s gives seconds. Did you take half of the 312e12, and hours?",
		praise: "And that is only a thousandth of GPT-3.",
	},
	{
		key:    "09.3",
		want:   50,
		hint:   "2·B·D·K against 100·B·D.",
		praise: "",
	},
	// 10: MFU
	{
		key:  "10.1",
		want: 4.0e14 / 989.5e12, tolerance: []float64{0.01},
		hint:   "Divide by the dense bf16 rate.",
		praise: "A respectable run.",
	},
	{
		key:  "10.2",
		want: 0.7, tolerance: []float64{0.01},
		hint:   "The peak was twice as large as it should have been.",
		praise: "That is so good that you should ask how it was measured.",
	},
	{
		key:  "10.3",
		want: 384e9, tolerance: []float64{0.01},
		hint:   "Multiply cores, clock, units and numbers at once. And how many operations is a multiply-add?",
		praise: "",
	},
	// 11: gradients
	{
		key:    "11.1",
		want:   []float64{-4, -8, -12},
		hint:   "dloss/dw = (x·w − y)·x. What is x·w − y now?",
		praise: "",
	},
	{
		key:  "11.2",
		want: []float64{7}, tolerance: []float64{1e-6},
		hint:   "The derivative of x² + x is 2x + 1; each use of x adds its own share.",
		praise: "A value that is used twice gets the sum of both gradients.",
	},
	{
		key:    "11.3",
		want:   []float64{3, 6, 9},
		hint:   "Nothing cleared the gradient between the calls to Backward.",
		praise: "This is what ZeroGrad is for, and also how gradient accumulation works.",
	},
	// 12: what gradients cost
	{
		key:  "12.1",
		want: 2.2, tolerance: []float64{0.001},
		hint:   "Forward runs through all layers. Backward starts at the end: which matmuls does the last layer need?",
		praise: "A step costs barely more than forward alone.",
	},
	{
		key:  "12.2",
		want: 4, tolerance: []float64{0.001},
		hint:   "The gradient has to travel back through nine frozen layers, which need only the matmul for the gradient of their input.",
		praise: "Freezing the later layers saves their weight gradients, but not the way back through them.",
	},
	{
		key:  "12.3",
		want: 4e21, tolerance: []float64{0.001},
		hint:   "Two of the six are forward.",
		praise: "",
	},
	// 13: parameters and initialization
	{
		key:  "13.1",
		want: 96, tolerance: []float64{0.05},
		hint:   "A sum of n products of either sign grows with the square root of n.",
		praise: "",
	},
	{
		key:  "13.2",
		want: math.Sqrt(2.0 / 512), tolerance: []float64{0.001},
		hint:   "He's rule uses only one of the two sizes: the number of inputs that an output adds up.",
		praise: "The outputs don't come into it.",
	},
	{
		key:  "13.3",
		want: 32, tolerance: []float64{0.1},
		hint:   "ReLU throws away half of the mean square. The size is the root of it, and there are ten layers.",
		praise: "A factor of √2 per layer does not look like much, until there are many layers.",
	},
	// 14: models
	{
		key:    "14.1",
		want:   12*1024*1024 + 1024,
		hint:   "Each layer is a square matrix. And don't forget the final one.",
		praise: "With layers this wide, the final one hardly counts.",
	},
	{
		key:    "14.2",
		want:   "blocks.1.up.weight",
		hint:   "Fields in lower case, numbers from 0 for the elements of a slice, and dots between them.",
		praise: "In PyTorch it would have the same name.",
	},
	{
		key:    "14.3",
		want:   72,
		hint:   "All three elements of the slice are the same layer. Should an optimizer step it three times?",
		praise: "A shared parameter is one parameter, and its gradient is the sum over all its uses.",
	},
	// 15: randomness
	{
		key:  "15.1",
		want: []float64{4}, tolerance: []float64{1e-6},
		hint:   "What survives is divided by the probability of surviving, so that the mean stays the same.",
		praise: "",
	},
	{
		key:    "15.2",
		want:   true,
		hint:   "A seed decides where the numbers begin. Do a draw of two and a draw of four begin in the same place?",
		praise: "",
	},
	{
		key:    "15.3",
		want:   false,
		hint:   "What does a stream know about the other streams?",
		praise: "So you can compare the runs with and without dropout: everything else is equal.",
	},
	// 18: memory accounting
	{
		key:    "18.1",
		want:   4 * (3*(1024*1024*24+1024) + 32*1024*24),
		hint:   "Parameters are D·D·L + D. They count three times with AdaGrad; activations, B·D·L, once. And how many bytes does a number take?",
		praise: "With a batch of 32, activations are small change here.",
	},
	{
		key:    "18.2",
		want:   1024,
		hint:   "B·D·L against D·D·L.",
		praise: "In a Transformer, each token of each sequence counts as a row of the batch.",
	},
	{
		key:  "18.3",
		want: 1.0 / 3, tolerance: []float64{0.01},
		hint:   "How many values belong to a parameter before, and how many after?",
		praise: "",
	},
	// 22: the roofline
	{
		key:  "22.1",
		want: 1.0 / 6, tolerance: []float64{0.01},
		hint:   "One FLOP for each element. How many values are read and written for it, and how many bytes does each take?",
		praise: "That is worse than ReLU: there is one more number to read.",
	},
	{
		key:  "22.2",
		want: 3 * 989.5e12 / 3.35e12, tolerance: []float64{0.02},
		hint:   "Compute-bound means an intensity above the machine's. Set n/3 equal to that.",
		praise: "Below that, an H100 waits for its memory even in a matmul.",
	},
	{
		key:  "22.3",
		want: 0.0034, tolerance: []float64{0.03},
		hint:   "What is the intensity of a matrix times a vector, and what is the machine's?",
		praise: "This is why services answer many users at once: many vectors make a matrix.",
	},
	// 23: compute for memory
	{
		key:  "23.1",
		want: 1.0 / 16, tolerance: []float64{0.001},
		hint:   "How many micro-batches are there? Their means have to add up to the mean over everything.",
		praise: "",
	},
	{
		key:  "23.2",
		want: 8, tolerance: []float64{0.001},
		hint:   "With segments of k blocks, about 64/k + k are held. Where is that smallest?",
		praise: "Then 15 blocks are held instead of 64.",
	},
	{
		key:  "23.3",
		want: 7.0 / 6, tolerance: []float64{0.01},
		hint:   "How many of the 2 forward FLOPs are done a second time? Add them to the total, and divide by what it was before.",
		praise: "You can choose block by block how much memory to buy.",
	},
	// 16: data
	{
		key:    "16.1",
		want:   873,
		hint:   "The first sequence begins at 0. Where does the last one begin, if it ends with the last id?",
		praise: "One more than for a pair.",
	},
	{
		key:    "16.2",
		want:   4_000_000,
		hint:   "How many different ids fit into two bytes? Is that enough?",
		praise: "Up to 65,536 tokens, two bytes will do: GPT-2's 50,257 fit.",
	},
	{
		key:    "16.3",
		want:   20,
		hint:   "Both work at the same time. Who has to wait for whom?",
		praise: "Fetching is completely hidden, and the model is what limits the run.",
	},
	// 17: optimizers
	{
		key:  "17.1",
		want: 0.1, tolerance: []float64{0.001},
		hint:   "y grows if that factor is below minus one.",
		praise: "Two divided by the steepest curvature: the rule holds for every valley.",
	},
	{
		key:  "17.2",
		want: 0.5, tolerance: []float64{0.001},
		hint:   "What is the sum of the squares after four steps, and its root?",
		praise: "",
	},
	{
		key:  "17.3",
		want: 4, tolerance: []float64{0.01},
		hint:   "When the running sum has settled, one more step doesn't change it. Which b solves that equation?",
		praise: "It is 1 / (1 − m), the factor by which momentum multiplies your learning rate.",
	},
	// 19: the training loop
	{
		key:  "19.1",
		want: 10416, tolerance: []float64{0.1},
		hint:   "The inputs have variance 1 and are independent: the squares of the weights add up.",
		praise: "",
	},
	{
		key:  "19.2",
		want: []float64{0}, tolerance: []float64{1e-9},
		hint:   "The gradient of a weight is its input times the error that came back.",
		praise: "No input, no learning.",
	},
	{
		key:    "19.3",
		want:   false,
		hint:   "How low does the small model get? How low can a mean of squares be?",
		praise: "More parameters do not help where there is nothing left to learn.",
	},
	// 20: checkpoints
	{
		key:  "20.1",
		want: 12e9, tolerance: []float64{1e-6},
		hint:   "For each parameter: the parameter itself, and the two numbers that AdamW keeps for it.",
		praise: "12 GB. Gradients aren't saved, since each step computes them again.",
	},
	{
		key:  "20.2",
		want: 250, tolerance: []float64{0.01},
		hint:   "At best the crash comes right after a checkpoint, at worst right before the next.",
		praise: "It is half the distance between two checkpoints.",
	},
	{
		key:  "20.3",
		want: 1500, tolerance: []float64{0.01},
		hint:   "The steps between two checkpoints must take a hundred times as long as saving.",
		praise: "That is 50 minutes of work to lose, so large runs save in the background.",
	},
	// 21: mixed precision
	{
		key:  "21.1",
		want: 536870912, tolerance: []float64{1e-6},
		hint:   "Only the largest gradient can overflow. What may it be multiplied by at most? Round that down to a power of two.",
		praise: "That lifts the smallest gradient to 0.05, far above float16's smallest number.",
	},
	{
		key:  "21.2",
		want: 8192, tolerance: []float64{1e-6},
		hint:   "Each overflow halves it.",
		praise: "That is how a scaler finds its scale at the start of a run: three steps skipped.",
	},
	{
		key:  "21.3",
		want: 16384, tolerance: []float64{1e-6},
		hint:   "What is the largest power of two that doesn't move 0.02 beyond the end of E4M3?",
		praise: "That takes 0.02 to 327.68. A power of two only changes the exponent, so scaling rounds nothing.",
	},
	// 24: attention
	{
		key:    "24.1",
		want:   4 * 768 * 768,
		hint:   "Queries, keys, values, and what mixes the heads: four matrices of width × width.",
		praise: "The number of heads does not matter.",
	},
	{
		key:    "24.2",
		want:   1024 * 1025 / 2,
		hint:   "The first token sees 1 key, the second 2, the last all 1,024.",
		praise: "A little more than half of the square. A kernel that knows this skips the rest.",
	},
	{
		key:    "24.3",
		want:   2 * 32 * 8 * 128 * 2,
		hint:   "A key and a value for each block, head and feature, two bytes each.",
		praise: "128 KiB for each token: a conversation of 8,192 tokens fills a gigabyte.",
	},
	// 25: a model that writes
	{
		key:  "25.1",
		want: 3.1 / 4.2 / math.Ln2, tolerance: []float64{0.01},
		hint:   "How many nats is that per byte? And how many bits is one nat?",
		praise: "With this model a text could be packed into less than a seventh of its bytes: predicting and compressing are the same thing.",
	},
	{
		key:    "25.2",
		want:   50257 * 768,
		hint:   "Without tying there are two matrices of the same size. Which size?",
		praise: "With a second matrix it would have 163 million parameters instead of 124.",
	},
	// 26: what a Transformer costs
	{
		key:  "26.1",
		want: 2 * 8.03e9, tolerance: []float64{0.01},
		hint:   "Two bytes for each parameter.",
		praise: "16 GB: too much for most graphics cards at home.",
	},
	{
		key:    "26.2",
		want:   4,
		hint:   "How many weights does a D × D matrix have, and how many when D doubles?",
		praise: "But the embedding only doubles.",
	},
	// 27: inference
	{
		key:  "27.1",
		want: 1e3 * 69.5e9 * 2 / (8 * 3.35e12), tolerance: []float64{0.02},
		hint:   "The bytes of all weights, divided by the bytes per second of all eight GPUs.",
		praise: "Eight GPUs read eight times as fast. They also have to talk to each other, which this leaves out.",
	},
	{
		key:  "27.2",
		want: 989.5e12 / 3.35e12 / 2, tolerance: []float64{0.1},
		hint:   "The intensity of a batch of B is 2·B FLOPs for each weight, over the bytes of a weight.",
		praise: "Half as many bytes, half as large a batch.",
	},
	// 28: many GPUs
	{
		key:  "28.1",
		want: 7. / (24 + 7), tolerance: []float64{0.01},
		hint:   "Each rank waits for one micro-batch fewer than there are stages.",
		praise: "Less than a quarter, for eight times as many GPUs.",
	},
	{
		key:  "28.2",
		want: 2 * 7. / 8 * 2e9, tolerance: []float64{0.01},
		hint:   "A reduce-scatter and an all-gather, each of which sends 7/8 of all bytes.",
		praise: "Less than twice the gradients, and 1,000 ranks would hardly send more.",
	},
	// 29: problems
	{
		key:  "29.1",
		want: []float64{15.3, 24.9, 3}, tolerance: []float64{0.01},
		hint: "Give a and b in GB, then the batch. b is 16 bytes for each parameter; a is 4 bytes for each number that one sequence of 1,024 tokens keeps.",
		rubric: []string{
			"It says what b is for: parameters, gradients, and AdamW's two moments.",
			"It says what most of a is: the scores of attention, which are two thirds of it.",
			"It rounds the batch down, and says that what is left over can't hold a fourth sequence.",
		},
	},
	{
		key:  "29.3",
		want: []float64{14 * 1.5576112e9, 28 * 1.5576112e9 / 3.35e12 * 1e3}, tolerance: []float64{0.01},
		hint: "There are 14 FLOPs for each parameter. How many bytes do seven float32 numbers take, and how long does it take to move them for all parameters?",
		rubric: []string{
			"It says that the bytes decide, not the FLOPs: the step is memory-bound.",
			"It has the intensity, half a FLOP per byte, or compares the two times.",
			"It says what would help: fewer bytes (one kernel for all of it, moments of fewer bits), not a faster processor.",
		},
	},
	{
		key:  "29.4",
		want: []float64{4.194304e11 * 1.02735456e10, 4.194304e11 * 1.02735456e10 / (989.5e12 * .5 * 86400)}, tolerance: []float64{0.01},
		hint: "FLOPs are tokens times FLOPs per token. Divide by half of the peak for seconds, then by 86,400.",
		rubric: []string{
			"It divides by peak times MFU, not by the peak.",
			"It answers the question about 256 GPUs with a number, 0.39 days.",
			"It says what that takes for granted: an MFU that doesn't fall when each GPU has fewer sequences but still sends all gradients.",
		},
	},
	{
		key:  "29.5",
		want: []float64{16 * 24.4293216 / 10.2735456, 61.8}, tolerance: []float64{0.015},
		hint: "A sequence has 16 times the tokens, and each takes more. For the percentage, divide 4·48·16384·1600 by the forward FLOPs of a token.",
		rubric: []string{
			"It tells tokens and FLOPs per token apart: 16 times and 2.38 times.",
			"It compares the share with that at 1,024 tokens, 9 %.",
			"It draws a conclusion: at such lengths the rule 6ND is far off, and attention is what has to get cheaper.",
		},
	},
	{
		key:       "29.7",
		want:      []float64{8, 160e9 / 4194304, 160e9 * 57.91285248e9 / (64 * 989.5e12 * .4 * 86400), 160e9 * 57.91285248e9 / (64 * 989.5e12 * .4 * 3600) * 64 * 2.5},
		tolerance: []float64{0.015},
		hint:      "Steps are tokens over tokens per step. Seconds are tokens · FLOPs per token, over 64 · peak · MFU. Dollars are hours · 64 · 2.50.",
		rubric: []string{
			"It says why each GPU accumulates: its share is 8 sequences, and one fits.",
			"It names a layout: ZeRO in stage 3 within a server, or across all 64, and what goes over which link.",
			"It compares the 8,192 tokens that a GPU has at a time with what the network asks for, and says what follows.",
			"It weighs recomputing: 8 sequences at once would satisfy the network, for a third more FLOPs.",
		},
	},
	// 30: the capstone
	{
		key:  "30.5",
		want: 50257. / (50257 + 96), tolerance: []float64{0.0005},
		hint:   "Both matrices have a side of 96. What are the other sides?",
		praise: "In small models nearly all work is in the last layer. That is one reason for not making vocabularies too large.",
	},
}
