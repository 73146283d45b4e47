package lesson

import "math"

// tasks are the exercises of [Grade], by lesson and number. Their cases stay out of the cells.
var tasks = map[string]*task{
	// 00: napkin math
	"00.4": {
		name: "trainingTime", args: []string{"parameters", "tokens", "gpus", "sheet", "mfu"},
		prototype: (func(parameters, tokens, gpus, sheet, mfu float64) float64)(nil),
		cases: []gradedCase{
			{category: "the lesson's run", in: []any{70e9, 15e12, 1024.0, 1979e12, 0.5}, want: []any{143.92659381842682}},
			{category: "an MFU of 1", in: []any{1e9, 1e9, 1.0, 2e15, 1.0}, want: []any{0.06944444444444445}},
			{category: "another MFU", in: []any{8e9, 15e12, 256.0, 1979e12, 0.4}, want: []any{82.2437678962439}},
			{category: "another GPU", in: []any{7e9, 2e12, 64.0, 624e12, 0.3}, want: []any{162.29671177587844}},
			{category: "less than a day", in: []any{1e9, 20e9, 8.0, 1979e12, 0.5}, want: []any{0.35090674302397395}},
		},
		hints: [2]string{
			"Is it off by a factor of 2? Then think of the footnote on the data sheet. By 86,400? Then it is in seconds.",
			"6·parameters·tokens, divided by gpus·(sheet/2)·mfu, divided by the 86,400 seconds of a day.",
		},
		praise: "You have just planned a training run.",
	},
	"00.5": {
		name: "gpusFor", args: []string{"parameters", "tokens", "days"},
		prototype: (func(parameters, tokens, days float64) int)(nil),
		cases: []gradedCase{
			{category: "the lesson's run", in: []any{70e9, 15e12, 144.0}, want: []any{1024}},
			{category: "in a month", in: []any{70e9, 15e12, 30.0}, want: []any{4913}},
			{category: "a larger model", in: []any{405e9, 15e12, 60.0}, want: []any{14212}},
			{category: "a model that just fits", in: []any{40e9, 1e9, 365.0}, want: []any{8}},
			{category: "memory decides", in: []any{40.1e9, 1e9, 365.0}, want: []any{9}},
			{category: "one is enough", in: []any{1e6, 1e6, 1.0}, want: []any{1}},
		},
		hints: [2]string{
			"How many GPUs do you need for the time, and how many for the memory? Which of the two numbers counts? There is no such thing as half a GPU.",
			"max(math.Ceil(the days of a single GPU / days), math.Ceil(16·parameters / 80e9)), as an int.",
		},
		praise: "For large models time decides, not memory: they need far more GPUs to finish this year than to fit.",
	},
	// 01: tokenization
	"01.4": {
		name: "merge", args: []string{"ids", "left", "right", "id"},
		prototype: (func(ids []int, left, right, id int) []int)(nil),
		cases: []gradedCase{
			{category: "an empty list", in: []any{[]int{}, 1, 2, 256}, want: []any{[]int{}}},
			{category: "no such pair", in: []any{[]int{2, 1, 3}, 1, 2, 256}, want: []any{[]int{2, 1, 3}}},
			{category: "one pair", in: []any{[]int{7, 1, 2, 7}, 1, 2, 256}, want: []any{[]int{7, 256, 7}}},
			{category: "pairs at both ends", in: []any{[]int{1, 2, 3, 1, 2}, 1, 2, 4}, want: []any{[]int{4, 3, 4}}},
			{category: "left at the very end", in: []any{[]int{1, 2, 1}, 1, 2, 256}, want: []any{[]int{256, 1}}},
			{category: "pairs that overlap", points: 2, in: []any{[]int{5, 5, 5, 5, 5}, 5, 5, 9}, want: []any{[]int{9, 9, 5}}},
		},
		hints: [2]string{
			"Look at two neighbours at a time. When they are the pair, how far do you move on? And what about the last id, which has no neighbour?",
			"Loop with an index i. If i+1 is within the list and ids[i], ids[i+1] are the pair, append id and add 2 to i; else append ids[i] and add 1.",
		},
		praise: "The pair is used up when it is merged: that is why overlapping pairs are merged from the left.",
	},
	"01.5": {
		name: "train", args: []string{"text", "merges"},
		prototype: (func(text string, merges int) [][2]int)(nil),
		cases: []gradedCase{
			{category: "an empty text", in: []any{"", 2}, want: []any{[][2]int{}}},
			{category: "no merges", in: []any{"the cat", 0}, want: []any{[][2]int{}}},
			{category: "one merge", in: []any{"aaaa", 1}, want: []any{[][2]int{{97, 97}}}},
			{category: "equally frequent pairs", in: []any{"abcd", 1}, want: []any{[][2]int{{97, 98}}}},
			{category: "the lesson's text", points: 2, in: []any{"the cat in the hat", 3}, want: []any{[][2]int{{116, 104}, {256, 101}, {257, 32}}}},
			{category: "Wikipedia's example", in: []any{"aaabdaaabac", 3}, want: []any{[][2]int{{97, 97}, {256, 97}, {257, 98}}}},
			{category: "merges of merges", in: []any{"abababab", 3}, want: []any{[][2]int{{97, 98}, {256, 256}, {257, 257}}}},
			{category: "fewer pairs than merges", in: []any{"ab", 3}, want: []any{[][2]int{{97, 98}}}},
			{category: "bytes, not characters", in: []any{"🌍🌍", 3}, want: []any{[][2]int{{240, 159}, {256, 140}, {257, 141}}}},
		},
		hints: [2]string{
			"A map counts the pairs, but a map has no order in Go. How do you find the first of several pairs that are equally frequent?",
			"For each merge: count all pairs into a map[[2]int]int; walk through the ids once more and keep the first pair whose count is " +
				"larger than the best so far; call merge with 256 plus the number of merges so far. Stop when fewer than two ids are left.",
		},
		praise: "You have trained a tokenizer. GPT-2's did this 50,000 times.",
	},
	// 02: tensors
	"02.4": {
		name: "fromRows", args: []string{"rows"},
		prototype: (func(rows [][]float64) (values []float64, shape []int, ok bool))(nil),
		cases: []gradedCase{
			{category: "one number", in: []any{[][]float64{{7}}}, want: []any{[]float64{7}, []int{1, 1}, true}},
			{category: "a matrix", points: 2, in: []any{[][]float64{{1, 2, 3}, {4, 5, 6}}}, want: []any{[]float64{1, 2, 3, 4, 5, 6}, []int{2, 3}, true}},
			{category: "more rows than columns", in: []any{[][]float64{{1, 2}, {3, 4}, {5, 6}}}, want: []any{[]float64{1, 2, 3, 4, 5, 6}, []int{3, 2}, true}},
			{category: "a row that is too short", in: []any{[][]float64{{1, 2, 3}, {4, 5}}}, want: []any{[]float64(nil), []int(nil), false}},
			{category: "a row that is too long", in: []any{[][]float64{{1}, {2}, {3, 4}}}, want: []any{[]float64(nil), []int(nil), false}},
			{category: "rows without numbers", in: []any{[][]float64{{}, {}}}, want: []any{[]float64{}, []int{2, 0}, true}},
			{category: "no rows", in: []any{[][]float64{}}, want: []any{[]float64{}, []int{0, 0}, true}},
		},
		hints: [2]string{
			"How long does every row have to be? Which row gives you that length, and what if there is no row?",
			"shape is []int{len(rows), len(rows[0])}, or 0 columns without rows. For each row: compare its length with shape[1], then append(values, row...).",
		},
		praise: "All values in one row of memory, and a shape: lesson 5 walks through that row in other orders.",
	},
	"02.5": {
		name: "arange", args: []string{"start", "stop", "step"},
		prototype: (func(start, stop, step float64) []float64)(nil),
		cases: []gradedCase{
			{category: "counting", in: []any{0.0, 5.0, 1.0}, want: []any{[]float64{0, 1, 2, 3, 4}}},
			{category: "halves", in: []any{0.0, 2.0, 0.5}, want: []any{[]float64{0, 0.5, 1, 1.5}}},
			{category: "a stop between two steps", in: []any{1.0, 8.0, 3.0}, want: []any{[]float64{1, 4, 7}}},
			{category: "counting down", in: []any{10.0, 0.0, -2.0}, want: []any{[]float64{10, 8, 6, 4, 2}}},
			{category: "nothing to count", in: []any{3.0, 3.0, 1.0}, want: []any{[]float64{}}},
			{category: "the wrong direction", in: []any{0.0, 5.0, -1.0}, want: []any{[]float64{}}},
			{category: "many tenths", points: 2, in: []any{0.0, 1.0, 0.1}, want: []any{[]float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}}},
		},
		hints: [2]string{
			"How many numbers are there? Is that a division that you have to round, and which way? If you get an eleventh tenth, you have added the step up.",
			"n is int(math.Ceil((stop-start)/step)), and none if that is negative. Number i is start + i·step, with float64(i).",
		},
		praise: "Ten times 0.1 added up is 0.9999999999999999: still below 1, so a loop that adds makes eleven numbers.",
	},
	// 03: number formats
	"03.4": {
		name: "decode", args: []string{"code", "exponentBits", "mantissaBits"},
		prototype: (func(code uint32, exponentBits, mantissaBits int) float64)(nil),
		cases: []gradedCase{
			{category: "one in float32", in: []any{uint32(0x3F800000), 8, 23}, want: []any{1.0}},
			{category: "a mantissa", in: []any{uint32(0x40A00000), 8, 23}, want: []any{5.0}},
			{category: "a negative number", in: []any{uint32(0xBDCCCCCD), 8, 23}, want: []any{-0.10000000149011612}},
			{category: "float16", in: []any{uint32(0x5640), 5, 10}, want: []any{100.0}},
			{category: "bfloat16", in: []any{uint32(0x4049), 8, 7}, want: []any{3.140625}},
			{category: "E5M2", in: []any{uint32(0x42), 5, 2}, want: []any{3.0}},
			{category: "zero", in: []any{uint32(0), 4, 3}, want: []any{0.0}},
			{category: "the largest E4M3, 0 1111 110", in: []any{uint32(0x7E), 4, 3}, want: []any{448.0}},
			{category: "a subnormal E4M3, 1 0000 011", points: 2, in: []any{uint32(0x83), 4, 3}, want: []any{-0.005859375}},
			{category: "the smallest E2M1, 0 00 1", points: 2, in: []any{uint32(1), 2, 1}, want: []any{0.5}},
			{category: "a negative E2M1, 1 11 1", in: []any{uint32(0b1111), 2, 1}, want: []any{-6.0}},
		},
		hints: [2]string{
			"Cut the fields out with >> and &. What changes in the formula where all bits of the exponent are 0? There are two changes.",
			"mantissa = code & (1<<mantissaBits − 1), and so on. The value is (1 + mantissa/2^mantissaBits) · 2^(exponent−bias); with an exponent of 0 " +
				"it is (mantissa/2^mantissaBits) · 2^(1−bias). math.Ldexp(v, n) is v·2ⁿ, also where n is negative.",
		},
		praise: "One function for float32, bfloat16, FP8 and FP4: they differ in two numbers.",
	},
	"03.5": {
		name: "round", args: []string{"x", "exponentBits", "mantissaBits"},
		prototype: (func(x float64, exponentBits, mantissaBits int) float64)(nil),
		cases: []gradedCase{
			{category: "a number that the format has", in: []any{1.5, 8, 7}, want: []any{1.5}},
			{category: "bfloat16, down", in: []any{1.003, 8, 7}, want: []any{1.0}},
			{category: "bfloat16, up", in: []any{1.005, 8, 7}, want: []any{1.0078125}},
			{category: "bfloat16, a large number", in: []any{1001.0, 8, 7}, want: []any{1000.0}},
			{category: "a negative number in E4M3", in: []any{-0.3, 4, 3}, want: []any{-0.3125}},
			{category: "up to the next power of two", in: []any{1.99, 4, 3}, want: []any{2.0}},
			{category: "a tie that goes down", points: 2, in: []any{2.5, 2, 1}, want: []any{2.0}},
			{category: "a tie that goes up", points: 2, in: []any{3.5, 2, 1}, want: []any{4.0}},
			{category: "a subnormal number in E4M3", points: 2, in: []any{0.0066, 4, 3}, want: []any{0.005859375}},
			{category: "underflow in float16", in: []any{1e-8, 5, 10}, want: []any{0.0}},
			{category: "zero", in: []any{0.0, 5, 2}, want: []any{0.0}},
		},
		hints: [2]string{
			"Between 2ⁿ and 2ⁿ⁺¹ the steps are 2ⁿ / 2^mantissaBits long. What is the smallest n of a normal number? Below that, the steps get no shorter.",
			"math.Frexp(x) returns n+1 as its second result. With n = max(n, 1−bias), where 1−bias is 2 − 2^(exponentBits−1), the step is 2^(n−mantissaBits), " +
				"math.Ldexp(1, n−mantissaBits). The result is math.RoundToEven(x/step)·step.",
		},
		praise: "It works for all formats of this lesson. Lesson 21 does it for bfloat16 with three operations on bits.",
	},
	"03.6": {
		name: "quantize", args: []string{"block"},
		prototype: (func(block []float64) (scale float64, values []float64))(nil),
		cases: []gradedCase{
			{category: "a scale of 1", in: []any{[]float64{6, -3, 1, 0.4}}, want: []any{1.0, []float64{6, -3, 1, 0.5}}},
			{category: "a small scale", points: 2, in: []any{[]float64{1.2, 0.1, -0.6, 0.37}}, want: []any{0.2, []float64{1.2, 0.1, -0.6, 0.4}}},
			{category: "the largest is negative", points: 2, in: []any{[]float64{-12, 5.4}}, want: []any{2.0, []float64{-12, 6}}},
			{category: "zeros", in: []any{[]float64{0, 0, 0}}, want: []any{0.0, []float64{0, 0, 0}}},
			{category: "an outlier", in: []any{[]float64{600, 1, 20, -80}}, want: []any{100.0, []float64{600, 0, 0, -100}}},
			{category: "an empty block", in: []any{[]float64{}}, want: []any{0.0, []float64{}}},
		},
		hints: [2]string{
			"First the scale, from the largest absolute value. Then look at each |x|/scale: which of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 is nearest? What about a scale of 0?",
			"scale = max |x| / 6. If it is 0, return zeros. For each x, find the g with the smallest |(|x|/scale) − g|; the value is g·scale with the sign of x, math.Copysign.",
		},
		praise: "An outlier costs its neighbours their precision. That is why blocks are small.",
	},
	// 04: devices
	"04.4": {
		name: "paysOff", args: []string{"bytes", "flops", "link", "cpu", "gpu"},
		prototype: (func(bytes, flops, link, cpu, gpu float64) int)(nil),
		cases: []gradedCase{
			{category: "exactly even", in: []any{100.0, 10.0, 10.0, 1.0, 2.0}, want: []any{2}},
			{category: "the first product pays", in: []any{1e9, 1e12, 64e9, 1e12, 1e14}, want: []any{1}},
			{category: "just not the first", in: []any{64e9, 1e12, 64e9, 1e12, 1e15}, want: []any{2}},
			{category: "the lesson's matrix and one token", points: 2, in: []any{2415919104.0, 1207959552.0, 64e9, 2e12, 989.5e12}, want: []any{63}},
			{category: "a slower link", in: []any{4e9, 8e9, 25e9, 5e11, 6e13}, want: []any{11}},
		},
		hints: [2]string{
			"How much time does each product save? How many of these savings make up for the trip?",
			"The trip takes bytes/link seconds, and each product saves flops/cpu − flops/gpu. Divide, and round up with math.Ceil.",
		},
		praise: "For writing one token at a time it takes dozens of products: so the weights have to stay there.",
	},
	"04.5": {
		name: "place", args: []string{"layers", "memory"},
		prototype: (func(layers []int, memory int) []int)(nil),
		cases: []gradedCase{
			{category: "no layers", in: []any{[]int{}, 80}, want: []any{[]int{}}},
			{category: "one GPU is enough", in: []any{[]int{20, 30, 30}, 80}, want: []any{[]int{0, 0, 0}}},
			{category: "two GPUs", in: []any{[]int{50, 40, 30}, 80}, want: []any{[]int{0, 1, 1}}},
			{category: "a GPU for each layer", in: []any{[]int{80, 80, 80}, 80}, want: []any{[]int{0, 1, 2}}},
			{category: "a small layer after a large one", points: 2, in: []any{[]int{50, 60, 10, 10, 70}, 80}, want: []any{[]int{0, 1, 1, 1, 2}}},
			{category: "many equal layers", in: []any{[]int{3, 3, 3, 3, 3, 3, 3}, 10}, want: []any{[]int{0, 0, 0, 1, 1, 1, 2}}},
		},
		hints: [2]string{
			"Which two numbers do you have to remember from layer to layer? Once GPU 1 has begun, nothing goes back to GPU 0.",
			"Begin with now = 0 and free = memory. For each layer: if it is larger than free, add 1 to now and set free = memory; note now; subtract the layer from free.",
		},
		praise: "This is called pipeline parallelism: while GPU 1 works on one batch, GPU 0 begins with the next.",
	},
	// 05: storage, strides, views
	"05.5": {
		name: "strides", args: []string{"shape"},
		prototype: (func(shape []int) []int)(nil),
		cases: []gradedCase{
			{category: "a vector", in: []any{[]int{7}}, want: []any{[]int{1}}},
			{category: "a matrix", in: []any{[]int{4, 4}}, want: []any{[]int{4, 1}}},
			{category: "a matrix that is not square", in: []any{[]int{3, 8}}, want: []any{[]int{8, 1}}},
			{category: "three axes", in: []any{[]int{2, 3, 5}}, want: []any{[]int{15, 5, 1}}},
			{category: "an axis of size 1", in: []any{[]int{3, 1, 2}}, want: []any{[]int{2, 2, 1}}},
			{category: "no axes", in: []any{[]int{}}, want: []any{[]int{}}},
			{category: "five axes", in: []any{[]int{2, 3, 4, 5, 6}}, want: []any{[]int{360, 120, 30, 6, 1}}},
		},
		hints: [2]string{
			"The last stride is 1. How does each stride follow from the one after it?",
			"Go from the last axis to the first with step := 1: write step down as the stride, then multiply it by the size of that axis.",
		},
		praise: "The product that is left over at the end is the number of elements.",
	},
	"05.6": {
		name: "read", args: []string{"storage", "start", "shape", "strides"},
		prototype: (func(storage []float64, start int, shape, strides []int) []float64)(nil),
		cases: []gradedCase{
			{category: "a matrix in order", in: []any{[]float64{1, 2, 3, 4, 5, 6}, 0, []int{2, 3}, []int{3, 1}}, want: []any{[]float64{1, 2, 3, 4, 5, 6}}},
			{category: "a transpose", in: []any{[]float64{1, 2, 3, 4, 5, 6}, 0, []int{3, 2}, []int{1, 3}}, want: []any{[]float64{1, 4, 2, 5, 3, 6}}},
			{category: "a block that starts inside", in: []any{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 4, []int{2, 2}, []int{3, 1}}, want: []any{[]float64{4, 5, 7, 8}}},
			{category: "a stride of 0", in: []any{[]float64{5, 6}, 0, []int{3, 2}, []int{0, 1}}, want: []any{[]float64{5, 6, 5, 6, 5, 6}}},
			{category: "a column, one axis", in: []any{[]float64{1, 2, 3, 4, 5, 6}, 1, []int{2}, []int{3}}, want: []any{[]float64{2, 5}}},
			{category: "a negative stride", in: []any{[]float64{1, 2, 3}, 2, []int{3}, []int{-1}}, want: []any{[]float64{3, 2, 1}}},
			{category: "three axes", points: 2, in: []any{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 0, []int{2, 2, 2}, []int{1, 4, 2}},
				want: []any{[]float64{0, 2, 4, 6, 1, 3, 5, 7}}},
			{category: "no axes", in: []any{[]float64{1, 2, 3}, 1, []int{}, []int{}}, want: []any{[]float64{2}}},
			{category: "an axis of size 0", in: []any{[]float64{1, 2, 3}, 0, []int{2, 0}, []int{3, 1}}, want: []any{[]float64{}}},
		},
		hints: [2]string{
			"For two axes, two loops do. For any number: what is the i-th element along the first axis? It is a tensor with one axis fewer.",
			"Call read itself for each i of the first axis, with start + i*strides[0], shape[1:] and strides[1:]. Without axes, return storage[start] alone.",
		},
		praise: "Contiguous does the same, only faster.",
	},
	// 06: elementwise operations
	"06.4": {
		name: "broadcast", args: []string{"a", "b"},
		prototype: (func(a, b []int) []int)(nil),
		cases: []gradedCase{
			{category: "equal shapes", in: []any{[]int{2, 3}, []int{2, 3}}, want: []any{[]int{2, 3}}},
			{category: "a row", in: []any{[]int{2, 3}, []int{3}}, want: []any{[]int{2, 3}}},
			{category: "the shorter shape first", in: []any{[]int{3}, []int{2, 3}}, want: []any{[]int{2, 3}}},
			{category: "a column and a row", points: 2, in: []any{[]int{3, 1}, []int{4}}, want: []any{[]int{3, 4}}},
			{category: "a plain number", in: []any{[]int{}, []int{5, 2}}, want: []any{[]int{5, 2}}},
			{category: "sizes that differ", in: []any{[]int{2, 3}, []int{2}}, want: []any{[]int(nil)}},
			{category: "sizes that differ in front", in: []any{[]int{2, 1, 3}, []int{4, 5, 3}}, want: []any{[]int(nil)}},
			{category: "ones on both sides", points: 2, in: []any{[]int{1, 7, 1, 5}, []int{8, 1, 6, 1}}, want: []any{[]int{8, 7, 6, 5}}},
			{category: "a size of 0", in: []any{[]int{1, 3}, []int{0, 3}}, want: []any{[]int{0, 3}}},
		},
		hints: [2]string{
			"Walk from the last axis to the first. Which size do you take for an axis that one of the shapes doesn't have? And a size of 0 is a size like any other.",
			"For i = 0, 1, … up to the longer shape: take a[len(a)-1-i], or 1 if there is none, and the same for b. If a's size is 1, take b's; if b's is 1, take a's; " +
				"if they are equal, take it; else return nil. Write it to place len(shape)-1-i.",
		},
		praise: "Those few lines are behind every operation with two operands.",
	},
	"06.5": {
		name: "softmax", args: []string{"scores"},
		prototype: (func(scores []float64) []float64)(nil),
		cases: []gradedCase{
			{category: "one score", in: []any{[]float64{3}}, want: []any{[]float64{1}}},
			{category: "equal scores", in: []any{[]float64{2, 2, 2, 2}}, want: []any{[]float64{0.25, 0.25, 0.25, 0.25}}},
			{category: "different scores", points: 2, in: []any{[]float64{1, 2, 3}},
				want: []any{[]float64{0.09003057317038046, 0.24472847105479764, 0.6652409557748218}}},
			{category: "minus infinity", in: []any{[]float64{math.Inf(-1), 0, 0}}, want: []any{[]float64{0, 0.5, 0.5}}},
			{category: "large scores", points: 2, in: []any{[]float64{0, 1000, 1000}}, want: []any{[]float64{0, 0.5, 0.5}}},
			{category: "large negative scores", points: 2, in: []any{[]float64{-1000, -1001}}, want: []any{[]float64{0.7310585786300049, 0.2689414213699951}}},
		},
		hints: [2]string{
			"Write the formula first, and see which case fails. Which number can you subtract from every score, so that no exponent is above 0?",
			"m := slices.Max(scores); each share is math.Exp(score − m), divided by the sum of all of these.",
		},
		praise: "It takes three passes over the scores: largest, sum, division. FlashAttention gets by with one.",
	},
	"06.6": {
		name: "causal", args: []string{"scores"},
		prototype: (func(scores [][]float64) [][]float64)(nil),
		cases: []gradedCase{
			{category: "one token", in: []any{[][]float64{{7}}}, want: []any{[][]float64{{1}}}},
			{category: "two tokens", in: []any{[][]float64{{0, 0}, {0, 0}}}, want: []any{[][]float64{{1, 0}, {0.5, 0.5}}}},
			{category: "a large score in the future", in: []any{[][]float64{{0, 900}, {0, 0}}}, want: []any{[][]float64{{1, 0}, {0.5, 0.5}}}},
			{category: "three tokens", points: 2, in: []any{[][]float64{{1, 5, 9}, {1, 2, 9}, {1, 2, 3}}},
				want: []any{[][]float64{{1, 0, 0}, {0.2689414213699951, 0.7310585786300049, 0}, {0.09003057317038046, 0.24472847105479764, 0.6652409557748218}}}},
		},
		hints: [2]string{
			"Row i may look at columns 0 to i. What has to be in the others before softmax? Zero is a score like any other.",
			"For each row i: copy it with slices.Clone, write math.Inf(-1) to columns i+1 and up, and append softmax of the copy.",
		},
		praise: "Triu, MaskedFill and Softmax, in a few lines of your own.",
	},
	// 07: matrix multiplication
	"07.4": {
		name: "matmul", args: []string{"a", "b", "rows", "inner", "cols"},
		prototype: (func(a, b []float64, rows, inner, cols int) []float64)(nil),
		cases: []gradedCase{
			{category: "one number each", in: []any{[]float64{3}, []float64{4}, 1, 1, 1}, want: []any{[]float64{12}}},
			{category: "a row times a column", in: []any{[]float64{1, 2, 3}, []float64{4, 5, 6}, 1, 3, 1}, want: []any{[]float64{32}}},
			{category: "a column times a row", in: []any{[]float64{1, 2}, []float64{3, 4, 5}, 2, 1, 3}, want: []any{[]float64{3, 4, 5, 6, 8, 10}}},
			{category: "square matrices", in: []any{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 2, 2}, want: []any{[]float64{19, 22, 43, 50}}},
			{category: "the lesson's matrices", points: 2, in: []any{[]float64{1, 2, 3, 4, 5, 6}, []float64{1, 0, 0, 1, 2, 2}, 2, 3, 2},
				want: []any{[]float64{7, 8, 16, 17}}},
			{category: "three different sizes", points: 2, in: []any{[]float64{1, 0, 2, -1, 3, 1}, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 3, 2, 4},
				want: []any{[]float64{1, 2, 3, 4, -3, -2, -1, 0, 8, 12, 16, 20}}},
			{category: "an inner size of 0", in: []any{[]float64{}, []float64{}, 2, 0, 2}, want: []any{[]float64{0, 0, 0, 0}}},
		},
		hints: [2]string{
			"Row after row: how many places are there between two rows of a, of b, and of the result? These are three different numbers.",
			"c := make([]float64, rows*cols); in three loops c[i*cols+j] += a[i*inner+k] * b[k*cols+j].",
		},
		praise: "Three loops, two FLOPs in the innermost: 2·rows·inner·cols.",
	},
	"07.5": {
		name: "addTile", args: []string{"c", "a", "b", "n", "i0", "j0", "k0", "t"},
		prototype: (func(c, a, b []float64, n, i0, j0, k0, t int) []float64)(nil),
		cases: []gradedCase{
			{category: "one tile is everything", in: []any{[]float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 0, 0, 0, 2},
				want: []any{[]float64{19, 22, 43, 50}}},
			{category: "a sum so far", in: []any{[]float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 0, 0, 0, 2},
				want: []any{[]float64{20, 24, 46, 54}}},
			{category: "tiles of one number", in: []any{[]float64{0, 0, 0, 0}, []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2, 1, 0, 1, 1},
				want: []any{[]float64{0, 0, 28, 0}}},
			{category: "a tile in the middle", points: 2,
				in: []any{make([]float64, 16), []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
					[]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4}, 4, 0, 2, 2, 2},
				want: []any{[]float64{0, 0, 15, 22, 0, 0, 31, 46, 0, 0, 0, 0, 0, 0, 0, 0}}},
			{category: "tiles at the edge", points: 2,
				in:   []any{make([]float64, 9), []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{1, 1, 1, 1, 1, 1, 2, 3, 4}, 3, 2, 0, 2, 2},
				want: []any{[]float64{0, 0, 0, 0, 0, 0, 18, 27, 0}}},
		},
		hints: [2]string{
			"It is the matmul again, except that each loop begins and ends elsewhere. Where does a tile at the edge end?",
			"for i := i0; i < min(i0+t, n); i++, and the same for k from k0 and j from j0; inside c[i*n+j] += a[i*n+k] * b[k*n+j].",
		},
		praise: "Loop over i0, j0 and k0 in steps of t around it, and you have a tiled matmul.",
	},
	"07.6": {
		name: "shapeOf", args: []string{"a", "b"},
		prototype: (func(a, b []int) []int)(nil),
		cases: []gradedCase{
			{category: "two matrices", in: []any{[]int{16, 32}, []int{32, 2}}, want: []any{[]int{16, 2}}},
			{category: "inner sizes that differ", in: []any{[]int{16, 32}, []int{2, 32}}, want: []any{[]int(nil)}},
			{category: "a batch on the left", in: []any{[]int{4, 8, 16, 32}, []int{32, 2}}, want: []any{[]int{4, 8, 16, 2}}},
			{category: "a batch on the right", in: []any{[]int{16, 32}, []int{8, 32, 2}}, want: []any{[]int{8, 16, 2}}},
			{category: "equal batches", in: []any{[]int{4, 12, 8, 64}, []int{4, 12, 64, 8}}, want: []any{[]int{4, 12, 8, 8}}},
			{category: "batches that are repeated", points: 2, in: []any{[]int{4, 1, 16, 32}, []int{8, 32, 2}}, want: []any{[]int{4, 8, 16, 2}}},
			{category: "batches that differ", points: 2, in: []any{[]int{3, 16, 32}, []int{4, 32, 2}}, want: []any{[]int(nil)}},
			{category: "an inner size of 1 is not repeated", points: 2, in: []any{[]int{5, 1}, []int{3, 2}}, want: []any{[]int(nil)}},
		},
		hints: [2]string{
			"Split each shape into batch axes and the last two. Which rule holds for which part?",
			"If a[len(a)-1] != b[len(b)-2], return nil. Broadcast a[:len(a)-2] with b[:len(b)-2] as in exercise 06.4, then append a[len(a)-2] and b[len(b)-1].",
		},
		praise: "It is PyTorch's rule, too.",
	},
	// 08: named dimensions
	"08.4": {
		name: "allScores", args: []string{"q", "k"},
		prototype: (func(q, k [][][]float64) [][][]float64)(nil),
		cases: []gradedCase{
			{category: "one number", in: []any{[][][]float64{{{3}}}, [][][]float64{{{4}}}}, want: []any{[][][]float64{{{12}}}}},
			{category: "two vectors", in: []any{[][][]float64{{{1, 2}}}, [][][]float64{{{3, 4}}}}, want: []any{[][][]float64{{{11}}}}},
			{category: "two sequences", in: []any{[][][]float64{{{1, 2}, {3, 4}}}, [][][]float64{{{1, 0}, {0, 1}}}},
				want: []any{[][][]float64{{{1, 2}, {3, 4}}}}},
			{category: "sequences of different lengths", points: 2,
				in:   []any{[][][]float64{{{1, 2}, {3, 4}}}, [][][]float64{{{1, 0}, {0, 1}, {1, 1}}}},
				want: []any{[][][]float64{{{1, 2, 3}, {3, 4, 7}}}}},
			{category: "a batch of two", points: 2,
				in:   []any{[][][]float64{{{1, 1}}, {{2, 0}}}, [][][]float64{{{1, 2}}, {{5, 9}}}},
				want: []any{[][][]float64{{{3}}, {{10}}}}},
		},
		hints: [2]string{
			"One loop for each name. Which of the four names isn't in the result, and what happens to it?",
			"Loop over b, i and j to make the result, and inside over h: s[b][i][j] += q[b][i][h] * k[b][j][h].",
		},
		praise: "Every einsum is made of such loops: one for each name, and += for what is summed.",
	},
	"08.5": {
		name: "attend", args: []string{"q", "k", "v"},
		prototype: (func(q, k, v [][]float64) [][]float64)(nil),
		cases: []gradedCase{
			{category: "one token", in: []any{[][]float64{{5, 1}}, [][]float64{{2, 2}}, [][]float64{{7, 8, 9}}}, want: []any{[][]float64{{7, 8, 9}}}},
			{category: "equal scores", in: []any{[][]float64{{0, 0}}, [][]float64{{1, 2}, {3, 4}, {5, 6}}, [][]float64{{3, 0}, {6, 3}, {0, 9}}},
				want: []any{[][]float64{{3, 4}}}},
			{category: "the lesson's tokens", points: 2,
				in:   []any{[][]float64{{1, 0}, {0, 1}}, [][]float64{{1, 0}, {0, 1}}, [][]float64{{1, 2}, {3, 4}}},
				want: []any{[][]float64{{1.6604769013466862, 2.6604769013466862}, {2.3395230986533138, 3.3395230986533138}}}},
			{category: "the root of the length", in: []any{[][]float64{{1, 1, 1, 1}}, [][]float64{{1, 0, 0, 0}, {1, 1, 1, 1}}, [][]float64{{0}, {1}}},
				want: []any{[][]float64{{0.8175744761936437}}}},
			{category: "large scores", points: 2,
				in:   []any{[][]float64{{100, 0}}, [][]float64{{100, 0}, {0, 100}, {99, 0}}, [][]float64{{1}, {2}, {5}}},
				want: []any{[][]float64{{1}}}},
		},
		hints: [2]string{
			"Take one query at a time: its scores with all keys, the softmax of these scores, the mixture of the values. NaN? Then e to a large score overflowed.",
			"For each query: s[j] = q·k[j] / √d; subtract the largest s; e[j] = exp(s[j]); divide by the sum of e; add e[j] times v[j] for all j.",
		},
		praise: "Split the heads before it and join them after it, and you have the middle of a Transformer.",
	},
	// 09: counting FLOPs
	"09.4": {
		name: "matmulFLOPs", args: []string{"a", "b"},
		prototype: (func(a, b []int) int)(nil),
		cases: []gradedCase{
			{category: "one number each", in: []any{[]int{1, 1}, []int{1, 1}}, want: []any{2}},
			{category: "two matrices", in: []any{[]int{16, 32}, []int{32, 2}}, want: []any{2048}},
			{category: "matrices that are not square", in: []any{[]int{3, 5}, []int{5, 7}}, want: []any{210}},
			{category: "a batch and a matrix", in: []any{[]int{5, 3, 4}, []int{4, 5}}, want: []any{600}},
			{category: "two batches", points: 2, in: []any{[]int{2, 3, 4}, []int{2, 4, 5}}, want: []any{240}},
			{category: "two batch axes", in: []any{[]int{4, 8, 16, 32}, []int{32, 2}}, want: []any{65536}},
		},
		hints: [2]string{
			"How many results are there, and how many operations does each take? Every size counts once, including the one that both shapes share.",
			"Multiply all sizes of a, the last size of b, and 2. The batch axes of b are those of a, so they must not count twice.",
		},
		praise: "2·B·D·K, with any number of batch axes in B.",
	},
	"09.5": {
		name: "modelFLOPs", args: []string{"tokens", "sizes"},
		prototype: (func(tokens int, sizes []int) int)(nil),
		cases: []gradedCase{
			{category: "one layer, one token", in: []any{1, []int{3, 2}}, want: []any{14}},
			{category: "one layer, several tokens", in: []any{10, []int{3, 2}}, want: []any{140}},
			{category: "two layers", points: 2, in: []any{10, []int{4, 8, 2}}, want: []any{1140}},
			{category: "three layers", in: []any{32, []int{16, 16, 16, 1}}, want: []any{35872}},
			{category: "no layer", in: []any{5, []int{7}}, want: []any{0}},
			{category: "no tokens", in: []any{0, []int{3, 2}}, want: []any{0}},
		},
		hints: [2]string{
			"Add up the layers, one after the other. What happens after the last one, and what doesn't?",
			"For each layer: 2·tokens·in·out for the product, tokens·out for the bias, and tokens·out for the ReLU unless it is the last.",
		},
		praise: "Leave out bias and ReLU, and you get 2 FLOPs per token and parameter.",
	},
	"09.6": {
		name: "prune", args: []string{"weights"},
		prototype: (func(weights []float64) []float64)(nil),
		cases: []gradedCase{
			{category: "no weights", in: []any{[]float64{}}, want: []any{[]float64{}}},
			{category: "one block", in: []any{[]float64{0.1, 0.9, 0.4, 0.2}}, want: []any{[]float64{0, 0.9, 0.4, 0}}},
			{category: "negative weights", in: []any{[]float64{-0.1, 0.3, -0.9, 0.2}}, want: []any{[]float64{0, 0.3, -0.9, 0}}},
			{category: "two blocks", points: 2, in: []any{[]float64{1, 2, 3, 4, 8, 7, 6, 5}}, want: []any{[]float64{0, 0, 3, 4, 8, 7, 0, 0}}},
			{category: "equal weights", in: []any{[]float64{1, 1, 1, 1}}, want: []any{[]float64{1, 1, 0, 0}}},
			{category: "equally far from zero", in: []any{[]float64{1, 2, -2, 2}}, want: []any{[]float64{0, 2, -2, 0}}},
			{category: "zeros", in: []any{[]float64{0, 0, 0, 5}}, want: []any{[]float64{0, 0, 0, 5}}},
		},
		hints: [2]string{
			"Go block by block. How far from zero is a weight of -0.9? How do you find the largest two of four without losing their places?",
			"For each block, sort the four places with slices.SortStableFunc by falling math.Abs of their weights, and copy the first two into a new slice of zeros.",
		},
		praise: "A model that is pruned like this is usually trained a little more, so that the other weights make up for the loss.",
	},
	// 10: model FLOPs utilization
	"10.4": {
		name: "speed", args: []string{"m", "k", "n", "seconds", "warmUp"},
		prototype: (func(m, k, n int, seconds []float64, warmUp int) float64)(nil),
		cases: []gradedCase{
			{category: "one run", in: []any{10, 20, 30, []float64{0.5}, 0}, want: []any{24000.0}},
			{category: "three runs", in: []any{10, 10, 10, []float64{2, 1, 4}, 0}, want: []any{1000.0}},
			{category: "a warm-up", points: 2, in: []any{10, 10, 10, []float64{100, 50, 2, 1, 4}, 2}, want: []any{1000.0}},
			{category: "an even number of runs", points: 2, in: []any{10, 10, 10, []float64{4, 1, 9, 3, 1}, 1}, want: []any{1000.0}},
			{category: "a run that was disturbed", in: []any{1024, 256, 64, []float64{9, 1e-4, 1.5, 1e-4}, 1}, want: []any{335544320000.0}},
			{category: "nothing but warm-up", in: []any{10, 10, 10, []float64{1, 2}, 2}, want: []any{0.0}},
			{category: "a large product", in: []any{16384, 32768, 8192, []float64{0.01}, 0}, want: []any{879609302220800.0}},
		},
		hints: [2]string{
			"Drop first, then sort: the warm-up runs are the first ones, not the slowest ones. Which places are in the middle if there is an even number of runs?",
			"runs := slices.Sorted(slices.Values(seconds[warmUp:])); with half := len(runs)/2 the median is runs[half], or the mean of runs[half-1] and runs[half] " +
				"for an even number. The result is 2·m·k·n divided by it.",
		},
		praise: "Every benchmark of a matmul ends with this.",
	},
	"10.5": {
		name: "trainingMFU", args: []string{"parameters", "tokens", "days", "gpus", "peak"},
		prototype: (func(parameters, tokens, days, gpus, peak float64) float64)(nil),
		cases: []gradedCase{
			{category: "one second's work", in: []any{1e12, 1e3, 1.0 / 86400, 1.0, 12e15}, want: []any{0.5}},
			{category: "several GPUs", in: []any{1e9, 1e12, 10.0, 64.0, 989.5e12}, want: []any{0.10965835719499185}},
			{category: "the napkin's run", points: 2, in: []any{70e9, 15e12, 143.93, 1024.0, 989.5e12}, want: []any{0.49998816722860706}},
			{category: "another GPU", in: []any{7e9, 2e12, 21.0, 256.0, 312e12}, want: []any{0.5796311134852801}},
		},
		hints: [2]string{
			"What the model needs is 6 FLOPs for each parameter and token. What could all GPUs have done in that time?",
			"6·parameters·tokens / (days·86400·gpus·peak).",
		},
		praise: "With it you can check what papers report.",
	},
	// 11: gradients
	"11.4": {
		name: "derivative", args: []string{"op", "a", "b", "g"},
		prototype: (func(op string, a, b, g float64) (float64, float64))(nil),
		cases: []gradedCase{
			{category: "add", in: []any{"add", 2.0, 3.0, 1.0}, want: []any{1.0, 1.0}},
			{category: "add with a gradient from above", in: []any{"add", 2.0, 3.0, -4.0}, want: []any{-4.0, -4.0}},
			{category: "mul", in: []any{"mul", 2.0, 3.0, 1.0}, want: []any{3.0, 2.0}},
			{category: "mul with a gradient from above", in: []any{"mul", -2.0, 5.0, 0.5}, want: []any{2.5, -1.0}},
			{category: "pow", in: []any{"pow", 3.0, 2.0, 1.0}, want: []any{6.0, 0.0}},
			{category: "pow with a negative exponent", in: []any{"pow", 2.0, -1.0, 4.0}, want: []any{-1.0, 0.0}},
			{category: "exp", in: []any{"exp", 0.0, 0.0, 3.0}, want: []any{3.0, 0.0}},
			{category: "exp of a negative number", in: []any{"exp", -1.0, 0.0, 2.0}, want: []any{0.7357588823428847, 0.0}},
			{category: "relu above zero", in: []any{"relu", 1.5, 0.0, 7.0}, want: []any{7.0, 0.0}},
			{category: "relu below zero", in: []any{"relu", -1.5, 0.0, 7.0}, want: []any{0.0, 0.0}},
		},
		hints: [2]string{
			"Write down the derivative of each operation as if g were 1. What does the chain rule do with g?",
			"Each result is g times a derivative: 1 and 1 for add, the other factor for mul, b·aᵇ⁻¹ for pow, the value itself for exp, 1 or 0 for relu.",
		},
		praise: "These five lines are all the calculus that a small network needs.",
	},
	"11.5": {
		name: "backward", args: []string{"inputs", "tape"},
		prototype: (func(inputs []float64, tape []Op) []float64)(nil),
		cases: []gradedCase{
			{category: "one operation", in: []any{[]float64{2, 3}, []Op{{"mul", 0, 1}}}, want: []any{[]float64{3, 2}}},
			{category: "two in a row", in: []any{[]float64{2, 3}, []Op{{"mul", 0, 1}, {"exp", 2, 0}}}, want: []any{[]float64{1210.2863804782053, 806.8575869854702}}},
			{category: "an input that is used twice", in: []any{[]float64{3}, []Op{{"mul", 0, 0}, {"add", 1, 0}}}, want: []any{[]float64{7}}},
			{category: "an input that is not used", in: []any{[]float64{2, 5, -1}, []Op{{"add", 0, 2}}}, want: []any{[]float64{1, 0, 1}}},
			{category: "the loss of this lesson", points: 2, in: []any{[]float64{1, 2, 3, 1, 1, 1, -5, 2, 0.5}, []Op{
				{"mul", 0, 3}, {"mul", 1, 4}, {"mul", 2, 5}, {"add", 9, 10}, {"add", 12, 11}, {"add", 13, 6}, {"pow", 14, 7}, {"mul", 15, 8},
			}}, want: []any{[]float64{1, 1, 1, 1, 2, 3, 1, 0, 1}}},
			{category: "a result that is used twice", points: 2, in: []any{[]float64{2, 3}, []Op{{"mul", 0, 1}, {"relu", 2, 0}, {"mul", 2, 3}, {"add", 4, 2}}},
				want: []any{[]float64{39, 26}}},
		},
		hints: [2]string{
			"First run the tape forwards to have all values. Then go through it backwards. What is the gradient of the last value with respect to itself?",
			"Keep a slice with a gradient for each value, 1 for the last. For each operation from the last to the first, take the gradient of its result, " +
				"ask derivative for the two shares, and add (+=) them to the gradients of A and of B.",
		},
		praise: "This is micrograd, and the core of every autograd engine.",
	},
	// 12: what gradients cost
	"12.4": {
		name: "gradients", args: []string{"a", "b", "g"},
		prototype: (func(a, b, g [][]float64) (da, db [][]float64))(nil),
		cases: []gradedCase{
			{category: "one number each", in: []any{[][]float64{{3}}, [][]float64{{4}}, [][]float64{{2}}}, want: []any{[][]float64{{8}}, [][]float64{{6}}}},
			{category: "a row times a column", in: []any{[][]float64{{1, 2, 3}}, [][]float64{{4}, {5}, {6}}, [][]float64{{1}}},
				want: []any{[][]float64{{4, 5, 6}}, [][]float64{{1}, {2}, {3}}}},
			{category: "a column times a row", in: []any{[][]float64{{1}, {2}}, [][]float64{{3, 4, 5}}, [][]float64{{1, 0, 2}, {0, 1, 0}}},
				want: []any{[][]float64{{13}, {4}}, [][]float64{{1, 2, 2}}}},
			{category: "square matrices", in: []any{[][]float64{{1, 2}, {3, 4}}, [][]float64{{5, 6}, {7, 8}}, [][]float64{{1, 0}, {0, 1}}},
				want: []any{[][]float64{{5, 7}, {6, 8}}, [][]float64{{1, 3}, {2, 4}}}},
			{category: "three different sizes", points: 3, in: []any{
				[][]float64{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}, [][]float64{{1, 2}, {3, 4}, {5, 6}}, [][]float64{{1, 1}, {1, -1}, {0, 2}, {0.5, 0}},
			}, want: []any{[][]float64{{3, 7, 11}, {-1, -1, -1}, {4, 8, 12}, {0.5, 1.5, 2.5}}, [][]float64{{7.5, 9}, {10, 11}, {12.5, 13}}}},
		},
		hints: [2]string{
			"The gradient of a has the shape of a, that of b the shape of b. Which size does each of the two sums run over?",
			"In three loops over i, d and k: da[i][d] += g[i][k]·b[d][k], and db[d][k] += a[i][d]·g[i][k].",
		},
		praise: "The innermost loop does two FLOPs twice, where forward does two: that is where the 4 comes from.",
	},
	"12.5": {
		name: "step", args: []string{"batch", "sizes", "trained"},
		prototype: (func(batch int, sizes []int, trained []bool) (forward, backward int))(nil),
		cases: []gradedCase{
			{category: "no layer", in: []any{5, []int{7}, []bool{}}, want: []any{0, 0}},
			{category: "one layer", in: []any{1, []int{3, 2}, []bool{true}}, want: []any{12, 12}},
			{category: "nothing is trained", in: []any{10, []int{4, 4, 4}, []bool{false, false}}, want: []any{640, 0}},
			{category: "the lesson's network", in: []any{1024, []int{256, 256, 64}, []bool{true, true}}, want: []any{167772160, 201326592}},
			{category: "three layers", points: 2, in: []any{10, []int{4, 8, 8, 2}, []bool{true, true, true}}, want: []any{2240, 3840}},
			{category: "the last layer alone", points: 2, in: []any{10, []int{4, 8, 8, 2}, []bool{false, false, true}}, want: []any{2240, 320}},
			{category: "the first layer alone", points: 2, in: []any{10, []int{4, 8, 8, 2}, []bool{true, false, false}}, want: []any{2240, 2240}},
			{category: "the middle layer alone", points: 2, in: []any{10, []int{4, 8, 8, 2}, []bool{false, true, false}}, want: []any{2240, 1600}},
		},
		hints: [2]string{
			"Each layer has up to two matmuls on the way back. One is for its weight. The other is for its input: which layers in front of it might need that?",
			"With product = 2·batch·sizes[i]·sizes[i+1]: add it to forward; add it to backward if trained[i]; and once more if any layer in front of i is trained.",
		},
		praise: "So fine-tuning only a few weights, as LoRA does, saves at most the matmuls for the other weights' gradients.",
	},
	// 13: parameters and initialisation
	"13.4": {
		name: "spreadOf", args: []string{"rule", "in", "out"},
		prototype: (func(rule string, in, out int) float64)(nil),
		cases: []gradedCase{
			{category: "lecun", in: []any{"lecun", 16384, 32}, want: []any{0.0078125}},
			{category: "lecun, more outputs than inputs", in: []any{"lecun", 4, 400}, want: []any{0.5}},
			{category: "xavier", in: []any{"xavier", 256, 64}, want: []any{0.07905694150420949}},
			{category: "xavier, the other way round", in: []any{"xavier", 64, 256}, want: []any{0.07905694150420949}},
			{category: "xavier of a square matrix", in: []any{"xavier", 100, 100}, want: []any{0.1}},
			{category: "he", in: []any{"he", 256, 64}, want: []any{0.08838834764831845}},
			{category: "he of one input", in: []any{"he", 1, 9}, want: []any{1.4142135623730951}},
		},
		hints: [2]string{
			"The table under \"Three names\" has the formulas. Do you divide whole numbers anywhere? In Go, 2/320 is 0.",
			"Convert to float64 first: math.Sqrt(2 / float64(in+out)) is Xavier's.",
		},
		praise: "Only Xavier's rule looks at the outputs.",
	},
	"13.5": {
		name: "truncated", args: []string{"draws", "n", "std", "bound"},
		prototype: (func(draws []float64, n int, std, bound float64) []float64)(nil),
		cases: []gradedCase{
			{category: "nothing to cut", in: []any{[]float64{0.5, -1, 2}, 3, 1.0, 3.0}, want: []any{[]float64{0.5, -1, 2}}},
			{category: "the standard deviation", in: []any{[]float64{0.5, -1, 2}, 3, 0.1, 3.0}, want: []any{[]float64{0.05, -0.1, 0.2}}},
			{category: "numbers beyond the bound", in: []any{[]float64{4, 0.5, -3.5, 1}, 2, 2.0, 3.0}, want: []any{[]float64{1, 2}}},
			{category: "a bound in standard deviations", points: 2, in: []any{[]float64{2, 2.5, -0.3, -1.5}, 1, 0.01, 1.0}, want: []any{[]float64{-0.003}}},
			{category: "numbers at the bound", in: []any{[]float64{3, -3}, 2, 1.0, 3.0}, want: []any{[]float64{3, -3}}},
			{category: "more draws than needed", in: []any{[]float64{1, 1, 1}, 1, 1.0, 3.0}, want: []any{[]float64{1}}},
			{category: "no numbers", in: []any{[]float64{1, 1, 1}, 0, 1.0, 3.0}, want: []any{[]float64{}}},
		},
		hints: [2]string{
			"Compare before you multiply: the bound is for the standard normal number. When do you stop?",
			"For each draw: if you have n numbers, stop; if math.Abs(z) <= bound, append std*z.",
		},
		praise: "Drawing again until a number fits is called rejection sampling.",
	},
	// 14: models
	"14.4": {
		name: "linear", args: []string{"x", "w", "bias"},
		prototype: (func(x, w [][]float64, bias []float64) [][]float64)(nil),
		cases: []gradedCase{
			{category: "one number", in: []any{[][]float64{{3}}, [][]float64{{2}}, []float64(nil)}, want: []any{[][]float64{{6}}}},
			{category: "one example", in: []any{[][]float64{{1, 2}}, [][]float64{{3, 4, 5}, {6, 7, 8}}, []float64(nil)}, want: []any{[][]float64{{15, 18, 21}}}},
			{category: "a bias", in: []any{[][]float64{{1, 2}}, [][]float64{{3, 4, 5}, {6, 7, 8}}, []float64{10, 20, 30}}, want: []any{[][]float64{{25, 38, 51}}}},
			{category: "a batch", points: 2, in: []any{[][]float64{{1, 0}, {0, 1}, {1, 1}}, [][]float64{{1, -2}, {3, 4}}, []float64(nil)},
				want: []any{[][]float64{{1, -2}, {3, 4}, {4, 2}}}},
			{category: "a batch and a bias", points: 2, in: []any{[][]float64{{1, 2, 3}, {-1, 0, 0.5}}, [][]float64{{1, 0}, {0, 1}, {2, -2}}, []float64{0.5, -1}},
				want: []any{[][]float64{{7.5, -5}, {0.5, -2}}}},
			{category: "no examples", in: []any{[][]float64{}, [][]float64{{1, 2}}, []float64{1, 1}}, want: []any{[][]float64{}}},
		},
		hints: [2]string{
			"Three loops: over the examples, over the inputs and over the outputs. Is the bias added once for each output, or once for each product?",
			"For each example make a row of len(w[0]) numbers, copy the bias into it, and then for all i and o: row[o] += x[b][i] * w[i][o].",
		},
		praise: "Most of the work of a language model is this one function.",
	},
	"14.5": {
		name: "stateDict", args: []string{"dim", "layers"},
		prototype: (func(dim, layers int) (names []string, shapes [][]int, n int))(nil),
		cases: []gradedCase{
			{category: "the final layer alone", in: []any{3, 0}, want: []any{[]string{"final.weight", "final.bias"}, [][]int{{3, 1}, {1}}, 4}},
			{category: "one layer", in: []any{2, 1}, want: []any{[]string{"layers.0.weight", "layers.0.bias", "final.weight", "final.bias"},
				[][]int{{2, 2}, {2}, {2, 1}, {1}}, 9}},
			{category: "the lesson's sizes", points: 2, in: []any{64, 2}, want: []any{
				[]string{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "final.weight", "final.bias"},
				[][]int{{64, 64}, {64}, {64, 64}, {64}, {64, 1}, {1}}, 8385}},
			{category: "a dimension of 1", in: []any{1, 1}, want: []any{[]string{"layers.0.weight", "layers.0.bias", "final.weight", "final.bias"},
				[][]int{{1, 1}, {1}, {1, 1}, {1}}, 4}},
			{category: "more than ten layers", in: []any{1, 11}, want: []any{
				[]string{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.2.weight", "layers.2.bias", "layers.3.weight", "layers.3.bias",
					"layers.4.weight", "layers.4.bias", "layers.5.weight", "layers.5.bias", "layers.6.weight", "layers.6.bias", "layers.7.weight", "layers.7.bias",
					"layers.8.weight", "layers.8.bias", "layers.9.weight", "layers.9.bias", "layers.10.weight", "layers.10.bias", "final.weight", "final.bias"},
				[][]int{{1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1}, {1, 1}, {1},
					{1, 1}, {1}}, 24}},
		},
		hints: [2]string{
			"What is the same for every layer? Write that once, with the name of the layer and its two sizes. How many outputs does the final layer have?",
			"For a layer called l from in to out: the names l.weight and l.bias, the shapes [in out] and [out], and in·out + out numbers. fmt.Sprintf(\"layers.%d\", i) makes the name.",
		},
		praise: "A checkpoint is this table, and the numbers behind it.",
	},
	// 16: data
	"16.4": {
		name: "getBatch", args: []string{"ids", "L", "u"},
		prototype: (func(ids []int, L int, u []float64) (x, y [][]int))(nil),
		cases: []gradedCase{
			{category: "no sequences", in: []any{[]int{1, 2, 3}, 2, []float64{}}, want: []any{[][]int{}, [][]int{}}},
			{category: "the first start", in: []any{[]int{10, 11, 12, 13, 14}, 2, []float64{0}}, want: []any{[][]int{{10, 11}}, [][]int{{11, 12}}}},
			{category: "the last start", points: 2, in: []any{[]int{10, 11, 12, 13, 14}, 2, []float64{0.999}},
				want: []any{[][]int{{12, 13}}, [][]int{{13, 14}}}},
			{category: "a single start", in: []any{[]int{10, 11, 12, 13}, 3, []float64{0.7, 0.1}},
				want: []any{[][]int{{10, 11, 12}, {10, 11, 12}}, [][]int{{11, 12, 13}, {11, 12, 13}}}},
			{category: "ids that are not in order", in: []any{[]int{7, 3, 9, 1, 4}, 1, []float64{0.5}}, want: []any{[][]int{{9}}, [][]int{{1}}}},
			{category: "equally likely starts", points: 2, in: []any{[]int{0, 1, 2, 3, 4, 5}, 2, []float64{0.24, 0.26, 0.49, 0.51, 0.74, 0.76}},
				want: []any{[][]int{{0, 1}, {1, 2}, {1, 2}, {2, 3}, {2, 3}, {3, 4}}, [][]int{{1, 2}, {2, 3}, {2, 3}, {3, 4}, {3, 4}, {4, 5}}}},
		},
		hints: [2]string{
			"How many starts are there for pairs of length L in n ids? And which whole number is a u of 0.999 with that many starts? Does it panic with a slice out of range? Then there is one start too many.",
			"s := int(u·(n − L)), with n − L as a float64. Then x is ids[s:s+L], and y is ids[s+1:s+1+L].",
		},
		praise: "The course's assignment tests exactly this: the largest start must be n − L − 1.",
	},
	"16.5": {
		name: "cut", args: []string{"ids", "L"},
		prototype: (func(ids []int, L int) (x, y [][]int))(nil),
		cases: []gradedCase{
			{category: "no ids", in: []any{[]int{}, 2}, want: []any{[][]int{}, [][]int{}}},
			{category: "a sequence without a last target", in: []any{[]int{1, 2, 3}, 3}, want: []any{[][]int{}, [][]int{}}},
			{category: "a single pair", in: []any{[]int{1, 2, 3, 4}, 3}, want: []any{[][]int{{1, 2, 3}}, [][]int{{2, 3, 4}}}},
			{category: "pairs without a rest", points: 2, in: []any{[]int{9, 8, 7, 6, 5}, 2}, want: []any{[][]int{{9, 8}, {7, 6}}, [][]int{{8, 7}, {6, 5}}}},
			{category: "pairs and a rest", in: []any{[]int{0, 1, 2, 3, 4, 5, 6, 7}, 3}, want: []any{[][]int{{0, 1, 2}, {3, 4, 5}}, [][]int{{1, 2, 3}, {4, 5, 6}}}},
			{category: "sequences of one id", in: []any{[]int{4, 4, 2}, 1}, want: []any{[][]int{{4}, {4}}, [][]int{{4}, {2}}}},
		},
		hints: [2]string{
			"The sequences x don't overlap. But the last target of one pair is also the first id of the next. How far does the last pair reach?",
			"Loop over s = 0, L, 2L, … as long as s+L < len(ids): ids[s+L] is the last target.",
		},
		praise: "From n ids you get (n − 1) / L pairs, rounded down.",
	},
	// 15: randomness
	"15.4": {
		name: "random", args: []string{"seed", "n"},
		prototype: (func(seed uint64, n int) []float64)(nil),
		cases: []gradedCase{
			{category: "no numbers", in: []any{uint64(7), 0}, want: []any{[]float64{}}},
			{category: "the first number", in: []any{uint64(0), 1}, want: []any{[]float64{0.23606797284446657}}},
			{category: "three numbers", in: []any{uint64(0), 3}, want: []any{[]float64{0.23606797284446657, 0.278566908556968, 0.8195337599609047}}},
			{category: "another seed", in: []any{uint64(42), 4}, want: []any{[]float64{0.2523451747838408, 0.08812504541128874, 0.5772811982315034, 0.22255426598712802}}},
			{category: "the largest seed", in: []any{uint64(4294967295), 2}, want: []any{[]float64{0.2356804204173386, 0.18786314339376986}}},
		},
		hints: [2]string{
			"Is your first number seed/2³²? The numbers follow the seed. Are all numbers 0? Go drops what is after the point when it divides whole numbers.",
			"n times: s = (1664525*s + 1013904223) % (1 << 32), then append float64(s)/(1<<32).",
		},
		praise: "A good generator needs a better formula, but no other idea.",
	},
	"15.5": {
		name: "dropout", args: []string{"x", "draws", "p", "training"},
		prototype: (func(x, draws []float64, p float64, training bool) []float64)(nil),
		cases: []gradedCase{
			{category: "all survive", in: []any{[]float64{1, 2, 3}, []float64{0.9, 0.8, 0.7}, 0.5, true}, want: []any{[]float64{2, 4, 6}}},
			{category: "some survive", in: []any{[]float64{3, -3, 6, 9}, []float64{0.1, 0.3, 0.2, 0.95}, 0.25, true}, want: []any{[]float64{0, -4, 0, 12}}},
			{category: "in use", points: 2, in: []any{[]float64{3, -3}, []float64{0.1, 0.9}, 0.25, false}, want: []any{[]float64{3, -3}}},
			{category: "no dropout", in: []any{[]float64{5, 7}, []float64{0, 0.5}, 0.0, true}, want: []any{[]float64{5, 7}}},
			{category: "a draw of exactly p", in: []any{[]float64{1}, []float64{0.5}, 0.5, true}, want: []any{[]float64{2}}},
			{category: "no elements", in: []any{[]float64{}, []float64{}, 0.5, true}, want: []any{[]float64{}}},
		},
		hints: [2]string{
			"How likely is it that an element survives? Divide survivors by that. And what happens when training is over?",
			"If !training, return x. Else out[i] = x[i] / (1 - p) where draws[i] >= p; the other elements of a new slice are 0 already.",
		},
		praise: "Scaling during training, and not in use, is what all libraries do today.",
	},
	// 17: optimizers
	"17.4": {
		name: "sgd", args: []string{"p", "gradients", "lr", "m"},
		prototype: (func(p float64, gradients []float64, lr, m float64) float64)(nil),
		cases: []gradedCase{
			{category: "no step", in: []any{4.0, []float64{}, 0.1, 0.9}, want: []any{4.0}},
			{category: "one step", in: []any{4.0, []float64{4}, 0.03, 0.0}, want: []any{3.88}},
			{category: "steps without momentum", in: []any{1.0, []float64{20, 8, -2}, 0.03, 0.0}, want: []any{0.22}},
			{category: "the first step with momentum", in: []any{1.0, []float64{20}, 0.03, 0.9}, want: []any{0.4}},
			{category: "steps with momentum", points: 2, in: []any{1.0, []float64{20, 8, -2}, 0.03, 0.9}, want: []any{-1.022}},
			{category: "gradients of zero after a step", in: []any{0.0, []float64{1, 0, 0}, 1.0, 0.5}, want: []any{-1.75}},
		},
		hints: [2]string{
			"Which two numbers change from step to step? One is p. Where does the other begin?",
			"Begin with b := 0.0, and for each gradient g: b = m*b + g, then p -= lr * b.",
		},
		praise: "Two lines in a loop: that is all of it.",
	},
	"17.5": {
		name: "adam", args: []string{"p", "gradients", "lr"},
		prototype: (func(p float64, gradients []float64, lr float64) float64)(nil),
		cases: []gradedCase{
			{category: "no step", in: []any{4.0, []float64{}, 0.1}, want: []any{4.0}},
			{category: "gradients of zero", in: []any{1.0, []float64{0, 0}, 0.1}, want: []any{1.0}},
			{category: "the first step", in: []any{4.0, []float64{4}, 0.1}, want: []any{3.90000000025}},
			{category: "three steps", points: 2, in: []any{4.0, []float64{4, 3.9, 3.8}, 0.1}, want: []any{3.700273929336003}},
			{category: "gradients that change sign", in: []any{0.0, []float64{1, -1, 1, -1}, 0.01}, want: []any{-0.012305301877335414}},
			{category: "tiny gradients", in: []any{-2.0, []float64{1e-4, 1e-4}, 0.5}, want: []any{-2.9999000099989965}},
			{category: "gradients of very different sizes", in: []any{1.0, []float64{1000, -0.001, 5}, 0.2}, want: []any{0.5617590711017008}},
		},
		tolerance: 1e-9,
		hints: [2]string{
			"Keep two running means, of g and of g². Does your first step have the length lr, whatever the gradient? If not, look at the bias correction.",
			"For step t = 1, 2, …: m = 0.9m + 0.1g, v = 0.999v + 0.001g², then p -= lr · m/(1−0.9ᵗ) / (√(v/(1−0.999ᵗ)) + 1e-8). The ε is outside the root.",
		},
		praise: "AdamW needs one more line: p -= lr * λ * p.",
	},
	// 18: memory accounting
	"18.4": {
		name: "stepBytes", args: []string{"widths", "batch", "state"},
		prototype: (func(widths []int, batch, state int) int)(nil),
		cases: []gradedCase{
			{category: "a single matrix", in: []any{[]int{3, 2}, 5, 0}, want: []any{48}},
			{category: "the lesson's model", in: []any{[]int{4, 4, 4, 1}, 2, 1}, want: []any{496}},
			{category: "two numbers of state", in: []any{[]int{4, 4, 4, 1}, 2, 2}, want: []any{640}},
			{category: "a large batch", in: []any{[]int{4, 4, 4, 1}, 256, 1}, want: []any{8624}},
			{category: "one wide layer", in: []any{[]int{8, 32, 2}, 4, 1}, want: []any{4352}},
			{category: "layers of all widths", points: 2, in: []any{[]int{2, 3, 5, 7, 1}, 10, 0}, want: []any{1104}},
		},
		hints: [2]string{
			"What shape is the matrix between widths[i-1] and widths[i]? Which results are neither input nor output? And how many bytes does a number take?",
			"Loop over i from 1: parameters += widths[i-1]*widths[i]; and if i isn't the last one, activations += batch*widths[i]. " +
				"Each parameter counts 2 + state times; everything counts 4 bytes.",
		},
		praise: "Replace the 4 by a 2, and it holds for bfloat16.",
	},
	"18.5": {
		name: "largestBatch", args: []string{"widths", "state", "memory"},
		prototype: (func(widths []int, state, memory int) int)(nil),
		cases: []gradedCase{
			{category: "it just fits", in: []any{[]int{4, 4, 4, 1}, 1, 496}, want: []any{2}},
			{category: "a byte too little", in: []any{[]int{4, 4, 4, 1}, 1, 495}, want: []any{1}},
			{category: "no room for an example", in: []any{[]int{4, 4, 4, 1}, 1, 463}, want: []any{0}},
			{category: "no room for the model", in: []any{[]int{4, 4, 4, 1}, 2, 500}, want: []any{0}},
			{category: "widths that differ", in: []any{[]int{8, 32, 2}, 1, 10_000}, want: []any{48}},
			{category: "a gibibyte", points: 2, in: []any{[]int{1024, 4096, 1024}, 2, 1 << 30}, want: []any{57344}},
		},
		hints: [2]string{
			"Which part of the bill doesn't depend on the batch? What does one more example cost?",
			"fixed := stepBytes(widths, 0, state), and one example costs stepBytes(widths, 1, state) - fixed. Divide what is left of the memory by that; " +
				"max(0, …) takes care of models that don't fit.",
		},
		praise: "Trying batches until the GPU complains gives the same number, only later.",
	},
	// 20: checkpoints
	"20.4": {
		name: "save", args: []string{"names", "values"},
		prototype: (func(names []string, values [][]float32) []byte)(nil),
		cases: []gradedCase{
			{category: "nothing", in: []any{[]string{}, [][]float32{}}, want: []any{[]byte{}}},
			{category: "one number", in: []any{[]string{"w"}, [][]float32{{1}}}, want: []any{[]byte("\x01\x00\x00\x00w\x01\x00\x00\x00\x00\x00\x80\x3f")}},
			{category: "a list without numbers", in: []any{[]string{"b"}, [][]float32{{}}}, want: []any{[]byte("\x01\x00\x00\x00b\x00\x00\x00\x00")}},
			{category: "a name without characters", in: []any{[]string{""}, [][]float32{{0.5}}},
				want: []any{[]byte("\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x3f")}},
			{category: "two lists", points: 2, in: []any{[]string{"w", "bias"}, [][]float32{{1, -2}, {0.5}}},
				want: []any{[]byte("\x01\x00\x00\x00w\x02\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\xc0\x04\x00\x00\x00bias\x01\x00\x00\x00\x00\x00\x00\x3f")}},
			{category: "a name with an umlaut", in: []any{[]string{"ä"}, [][]float32{{}}}, want: []any{[]byte("\x02\x00\x00\x00\xc3\xa4\x00\x00\x00\x00")}},
		},
		hints: [2]string{
			"Begin with an empty slice of bytes, and append piece after piece. What does len count in a string: characters or bytes?",
			"For each name: append uint32(len(name)), the name (append(file, name...)), uint32(len(values[i])), and math.Float32bits(v) for each number v.",
		},
		praise: "A whole model in a file, and no code in it that could run.",
	},
	"20.5": {
		name: "load", args: []string{"file"},
		prototype: (func(file []byte) (names []string, values [][]float32, ok bool))(nil),
		cases: []gradedCase{
			{category: "an empty file", in: []any{[]byte{}}, want: []any{[]string{}, [][]float32{}, true}},
			{category: "one number", in: []any{[]byte("\x01\x00\x00\x00w\x01\x00\x00\x00\x00\x00\x80\x3f")},
				want: []any{[]string{"w"}, [][]float32{{1}}, true}},
			{category: "two lists", points: 2,
				in:   []any{[]byte("\x01\x00\x00\x00w\x02\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\xc0\x04\x00\x00\x00bias\x01\x00\x00\x00\x00\x00\x00\x3f")},
				want: []any{[]string{"w", "bias"}, [][]float32{{1, -2}, {0.5}}, true}},
			{category: "a list without numbers", in: []any{[]byte("\x01\x00\x00\x00b\x00\x00\x00\x00")},
				want: []any{[]string{"b"}, [][]float32{{}}, true}},
			{category: "cut off in a count", in: []any{[]byte("\x01\x00")}, want: []any{[]string(nil), [][]float32(nil), false}},
			{category: "cut off in a name", in: []any{[]byte("\x04\x00\x00\x00bi")}, want: []any{[]string(nil), [][]float32(nil), false}},
			{category: "cut off after a name", in: []any{[]byte("\x01\x00\x00\x00w")}, want: []any{[]string(nil), [][]float32(nil), false}},
			{category: "cut off in a number", in: []any{[]byte("\x01\x00\x00\x00w\x01\x00\x00\x00\x00\x00\x80")},
				want: []any{[]string(nil), [][]float32(nil), false}},
			{category: "cut off in the second list", in: []any{[]byte("\x01\x00\x00\x00w\x01\x00\x00\x00\x00\x00\x80\x3f\x01\x00\x00\x00b\x01\x00\x00\x00")},
				want: []any{[]string(nil), [][]float32(nil), false}},
			{category: "a count of four billion", points: 2, in: []any{[]byte("\x01\x00\x00\x00w\xff\xff\xff\xff\x00\x00\x80\x3f")},
				want: []any{[]string(nil), [][]float32(nil), false}},
		},
		hints: [2]string{
			"Keep what is left of the file, and cut pieces off its front. What do you have to check before each cut?",
			"Before each count: are at least 4 bytes left? After it: is the count larger than what is left (divided by 4 for numbers)? Then return nil, nil, false. " +
				"math.Float32frombits(binary.LittleEndian.Uint32(b)) turns 4 bytes into a number.",
		},
		praise: "Loaders that trust their files crash, or worse: whoever wrote the file decides what happens.",
	},
	// 21: mixed precision
	"21.4": {
		name: "scaler", args: []string{"largest", "scale", "interval"},
		prototype: (func(largest []float64, scale float64, interval int) (float64, int))(nil),
		cases: []gradedCase{
			{category: "no steps", in: []any{[]float64{}, 1024.0, 3}, want: []any{1024.0, 0}},
			{category: "an overflow", in: []any{[]float64{100}, 1024.0, 3}, want: []any{512.0, 1}},
			{category: "growing", in: []any{[]float64{1, 1, 1}, 1024.0, 3}, want: []any{2048.0, 0}},
			{category: "not long enough to grow", in: []any{[]float64{1, 1}, 1024.0, 3}, want: []any{1024.0, 0}},
			{category: "growing twice", in: []any{[]float64{1, 1, 1, 1, 1}, 8.0, 2}, want: []any{32.0, 0}},
			{category: "an overflow restarts the count", points: 2, in: []any{[]float64{1, 1, 100, 1, 1}, 1024.0, 3}, want: []any{512.0, 1}},
			{category: "a scale that became too large", points: 2, in: []any{[]float64{40, 40, 40, 40, 40}, 1024.0, 2}, want: []any{2048.0, 1}},
			{category: "several overflows in a row", in: []any{[]float64{1000, 1000, 1000, 1000, 1000}, 256.0, 2}, want: []any{64.0, 3}},
			{category: "exactly the largest float16", in: []any{[]float64{65504}, 1.0, 2}, want: []any{1.0, 0}},
		},
		hints: [2]string{
			"Keep two counts: the skipped steps, and the good steps since the scale last changed. When do you set the second one back to 0?",
			"For each g: if g*scale > 65504, halve the scale, add a skipped step and set good to 0. Otherwise add a good step, and if there are interval of them, double the scale and set good to 0.",
		},
		praise: "PyTorch's GradScaler does this, and grows after 2,000 good steps.",
	},
	"21.5": {
		name: "toBF16", args: []string{"x"},
		prototype: (func(x float32) float32)(nil),
		cases: []gradedCase{
			{category: "a number that bfloat16 has", in: []any{float32(1.5)}, want: []any{float32(1.5)}},
			{category: "zero", in: []any{float32(0)}, want: []any{float32(0)}},
			{category: "down", in: []any{float32(1.001)}, want: []any{float32(1)}},
			{category: "up", in: []any{float32(1.007)}, want: []any{float32(1.0078125)}},
			{category: "a negative number", in: []any{float32(-3.3)}, want: []any{float32(-3.296875)}},
			{category: "the middle, with an even number below", points: 2, in: []any{float32(1.00390625)}, want: []any{float32(1)}},
			{category: "the middle, with an even number above", points: 2, in: []any{float32(1.01171875)}, want: []any{float32(1.015625)}},
			{category: "up to the next power of two", in: []any{float32(1.999)}, want: []any{float32(2)}},
			{category: "a large number", in: []any{float32(1e30)}, want: []any{float32(1.0002555517425873e+30)}},
			{category: "beyond the largest", in: []any{float32(3.4e38)}, want: []any{float32(math.Inf(1))}},
		},
		tolerance: 1e-7,
		hints: [2]string{
			"Dropping the lower 16 bits rounds towards 0. What do you have to add first, so that everything above the middle carries into the upper half? And in the middle itself?",
			"Add 0x7fff to the bits, and one more if the last bit that stays, bits>>16&1, is 1. Then clear the lower 16 bits with &^ 0xffff.",
		},
		praise: "Three integer operations, which is why converting is so cheap.",
	},
	// 22: the roofline
	"22.4": {
		name: "intensity", args: []string{"m", "k", "n", "element"},
		prototype: (func(m, k, n, element int) float64)(nil),
		cases: []gradedCase{
			{category: "one number each", in: []any{1, 1, 1, 1}, want: []any{1.0 / 3}},
			{category: "a dot product", in: []any{1, 1024, 1, 2}, want: []any{2047.0 / 4098}},
			{category: "a matrix times a vector", in: []any{1024, 1024, 1, 2}, want: []any{1024.0 * 2047 / (2 * (1024*1024 + 2048))}},
			{category: "square matrices", in: []any{1024, 1024, 1024, 2}, want: []any{2047.0 / 6}},
			{category: "four bytes", in: []any{1024, 1024, 1024, 4}, want: []any{2047.0 / 12}},
			{category: "three sizes", points: 2, in: []any{2, 3, 5, 1}, want: []any{50.0 / 31}},
		},
		hints: [2]string{
			"How many results are there, and how many FLOPs does each take? How many numbers do the three matrices have? Is your fraction 0? Go drops what is after the point when it divides ints.",
			"m·n·(2k−1) FLOPs over element·(m·k + k·n + m·n) bytes; convert both to float64 before you divide.",
		},
		praise: "With n = 1 it is the matrix times a vector, and with m = 1, too, it is the dot product.",
	},
	"22.5": {
		name: "attainable", args: []string{"flops", "bytes", "peak", "bandwidth"},
		prototype: (func(flops, bytes, peak, bandwidth float64) float64)(nil),
		cases: []gradedCase{
			{category: "below the ridge", in: []any{1.0, 4.0, 1000.0, 10.0}, want: []any{2.5}},
			{category: "above the ridge", in: []any{1e6, 10.0, 1000.0, 10.0}, want: []any{1000.0}},
			{category: "on the ridge", in: []any{100.0, 1.0, 1000.0, 10.0}, want: []any{1000.0}},
			{category: "ReLU on an H100", in: []any{1048576.0, 4194304.0, 989.5e12, 3.35e12}, want: []any{0.8375e12}},
			{category: "no bytes", in: []any{5.0, 0.0, 1000.0, 10.0}, want: []any{1000.0}},
			{category: "no FLOPs", in: []any{0.0, 8.0, 1000.0, 10.0}, want: []any{0.0}},
		},
		hints: [2]string{
			"How many FLOPs can be done with the bytes that arrive in one second? And what can't they exceed?",
			"min(peak, flops/bytes·bandwidth), and peak alone if there are no bytes.",
		},
		praise: "The min of a slope and a flat line: that is the whole roofline.",
	},
	"22.6": {
		name: "smallestBatch", args: []string{"k", "n", "element", "machine"},
		prototype: (func(k, n, element int, machine float64) int)(nil),
		cases: []gradedCase{
			{category: "one is enough", in: []any{64, 64, 2, 0.5}, want: []any{1}},
			{category: "exactly enough", in: []any{2, 1, 1, 3.0 / 5}, want: []any{1}},
			{category: "a layer on a CPU", in: []any{4096, 4096, 4, 10.0}, want: []any{21}},
			{category: "a layer on an H100", points: 2, in: []any{4096, 4096, 2, 295.4}, want: []any{346}},
			{category: "a layer that isn't square", in: []any{4096, 14336, 2, 295.4}, want: []any{326}},
			{category: "a layer that is too small", in: []any{256, 256, 2, 295.4}, want: []any{0}},
		},
		hints: [2]string{
			"intensity of exercise 4 takes the batch as its m. Does it grow with the batch?",
			"Loop over b from 1 to 100,000 and return the first with intensity(b, k, n, element) >= machine; after the loop return 0.",
		},
		praise: "This is why services answer many users at once: below that batch, one more user costs next to nothing.",
	},
	// 23: memory for compute
	"23.4": {
		name: "accumulate", args: []string{"gradients", "sizes"},
		prototype: (func(gradients [][]float64, sizes []int) []float64)(nil),
		cases: []gradedCase{
			{category: "a single piece", in: []any{[][]float64{{3, -1}}, []int{8}}, want: []any{[]float64{3, -1}}},
			{category: "equal pieces", in: []any{[][]float64{{1, 0}, {3, 2}}, []int{4, 4}}, want: []any{[]float64{2, 1}}},
			{category: "four equal pieces", in: []any{[][]float64{{1}, {2}, {3}, {6}}, []int{16, 16, 16, 16}}, want: []any{[]float64{3}}},
			{category: "a smaller piece at the end", points: 2, in: []any{[][]float64{{1, 10}, {5, 20}}, []int{3, 1}}, want: []any{[]float64{2, 12.5}}},
			{category: "pieces of all sizes", points: 2, in: []any{[][]float64{{1, 1, 1}, {2, 0, -2}, {4, 8, 0}}, []int{5, 2, 1}},
				want: []any{[]float64{1.625, 1.625, 0.125}}},
		},
		hints: [2]string{
			"A mean over a piece times the size of the piece is a sum. What do you divide the sum over all examples by?",
			"Give each piece's gradient the weight size / (all sizes together), as float64, and add: sum[j] += g[j] * float64(size) / float64(examples).",
		},
		praise: "With sequences of different lengths, count tokens instead of examples.",
	},
	"23.5": {
		name: "blocksHeld", args: []string{"depth", "k"},
		prototype: (func(depth, k int) int)(nil),
		cases: []gradedCase{
			{category: "a single block", in: []any{1, 1}, want: []any{1}},
			{category: "one segment", in: []any{16, 16}, want: []any{16}},
			{category: "segments of 1", in: []any{16, 1}, want: []any{16}},
			{category: "segments of the root", in: []any{16, 4}, want: []any{7}},
			{category: "a deep network", in: []any{100, 10}, want: []any{19}},
			{category: "a short last segment", points: 2, in: []any{17, 4}, want: []any{7}},
			{category: "a last segment that is nearly whole", in: []any{7, 4}, want: []any{4}},
			{category: "segments longer than the network", in: []any{5, 8}, want: []any{5}},
		},
		hints: [2]string{
			"How many checkpoints are there before each segment, if the batch is free? Where could the peak be if the last segment is short?",
			"Go through the segments, i = 0, 1, …: i checkpoints, and min(k, depth − i·k) blocks that are computed again. Return the largest sum.",
		},
		praise: "In one line it is depth/k + k − 1, rounded down, as long as k isn't larger than depth.",
	},
	// 24: a Transformer
	"24.4": {
		name: "attend", args: []string{"query", "keys", "values"},
		prototype: (func(query []float64, keys, values [][]float64) []float64)(nil),
		cases: []gradedCase{
			{category: "a single token", in: []any{[]float64{1, 2}, [][]float64{{0.5, -1}}, [][]float64{{3, 4, 5}}}, want: []any{[]float64{3, 4, 5}}},
			{category: "equal scores", in: []any{[]float64{1, 0}, [][]float64{{1, 0}, {1, 5}}, [][]float64{{2}, {4}}}, want: []any{[]float64{3}}},
			{category: "three tokens", points: 2, in: []any{
				[]float64{1, -1, 2, 0.5}, [][]float64{{0.1, 0.2, 0.3, 0.4}, {1, 0, -1, 2}, {0.5, 0.5, 0.5, 0.5}}, [][]float64{{1, 0}, {0, 1}, {2, -2}},
			}, want: []any{[]float64{1.2025151545861927, -0.6382766063220061}}},
			{category: "large scores", in: []any{[]float64{30, 40}, [][]float64{{30, 40}, {29, 40}}, [][]float64{{1}, {0}}}, want: []any{[]float64{0.9999999993873354}}},
			{category: "large negative scores", in: []any{[]float64{-500}, [][]float64{{3}, {3.001}}, [][]float64{{1}, {2}}}, want: []any{[]float64{1.3775406687981455}}},
		},
		hints: [2]string{
			"Three loops: a score for each key, a weight for each score, a weighted sum of the values. What makes exp overflow, and what can you subtract from all scores without changing the softmax?",
			"scores[j] = Σ query[c]·keys[j][c] / √len(query), w[j] = exp(scores[j] − the largest), and each result is Σ w[j]·values[j][c] / Σ w[j].",
		},
		praise: "FlashAttention is this with a running maximum, so that the keys can come in tiles.",
	},
	"24.5": {
		name: "rotate", args: []string{"x", "t", "theta"},
		prototype: (func(x []float64, t int, theta float64) []float64)(nil),
		cases: []gradedCase{
			{category: "position 0", in: []any{[]float64{1, 2, 3, 4}, 0, 10000.0}, want: []any{[]float64{1, 2, 3, 4}}},
			{category: "one pair", in: []any{[]float64{1, 0}, 1, 10000.0}, want: []any{[]float64{0.5403023058681398, 0.8414709848078965}}},
			{category: "two pairs", points: 2, in: []any{[]float64{1, 2, 3, 4}, 3, 10000.0},
				want: []any{[]float64{-1.27223251272018, -1.8388649851410237, 2.87866810043698, 4.088186635603437}}},
			{category: "another theta", in: []any{[]float64{1, 2, 3, 4, 5, 6}, 17, 100.0},
				want: []any{[]float64{1.6476316457075166, -1.5117241679827507, -0.6112411538037161, -4.962497783565923, -0.7356629273257642, 7.775525709388304}}},
			{category: "far away", in: []any{[]float64{0.5, -0.5, 0.25, 2, 1, 0, 0, 1}, 1000, 500000.0},
				want: []any{[]float64{0.6946293084113527, 0.1322502321206498, 0.4348108961207653, 1.9681055572846333, 0.1559436947653746, 0.9877659459927355,
					-0.05315789182745448, 0.9985861197395348}}},
		},
		tolerance: 1e-9,
		hints: [2]string{
			"Rotating (a, b) by an angle gives (a·cos − b·sin, a·sin + b·cos). What angle does the first pair have, and what angle the last?",
			"For i = 0, 1, …: angle = t · math.Pow(theta, −2i/d); then y[2i] and y[2i+1] from x[2i] and x[2i+1]. Write into a new slice: both results need both inputs.",
		},
		praise: "The course's assignment asks for this, with a table of the sines.",
	},
	// 25: what a Transformer costs
	"25.3": {
		name: "parameters", args: []string{"layers", "width", "hidden", "vocabulary"},
		prototype: (func(layers, width, hidden, vocabulary int) int)(nil),
		cases: []gradedCase{
			{category: "no blocks", in: []any{0, 8, 16, 10}, want: []any{168}},
			{category: "one block", in: []any{1, 8, 16, 10}, want: []any{824}},
			{category: "a small model", in: []any{3, 64, 192, 256}, want: []any{192960}},
			{category: "the assignment's model", points: 2, in: []any{48, 1600, 6400, 50257}, want: []any{2127057600}},
		},
		hints: [2]string{
			"Write down the matrices of one block with their shapes. What is outside the blocks?",
			"A block has 4·width² + 3·width·hidden + 2·width. Outside are the last normalisation, width, and 2·vocabulary·width.",
		},
		praise: "The last case is what the course's assignment asks for: GPT-2 XL's sizes with a gate.",
	},
	"25.4": {
		name: "training", args: []string{"layers", "width", "hidden", "vocabulary", "context"},
		prototype: (func(layers, width, hidden, vocabulary, context int) int)(nil),
		cases: []gradedCase{
			{category: "the output layer alone", in: []any{0, 8, 16, 10, 4}, want: []any{480}},
			{category: "no context", in: []any{1, 8, 16, 10, 0}, want: []any{4320}},
			{category: "one block", in: []any{1, 8, 16, 10, 4}, want: []any{4704}},
			{category: "a large model", points: 2, in: []any{48, 1600, 6400, 50257, 1024}, want: []any{13222665600}},
		},
		hints: [2]string{
			"Which weights are multiplied by a token? The embedding is looked up. What does attention add, for T tokens in the context?",
			"Forward is 2·weights + 4·layers·context·width, where weights are those of the blocks' matrices and vocabulary·width. Training is three times that.",
		},
		praise: "Times the tokens, over the peak and the MFU: that is a training bill.",
	},
	// 26: inference
	"26.3": {
		name: "cacheBytes", args: []string{"batch", "tokens", "layers", "kvHeads", "headSize", "element"},
		prototype: (func(batch, tokens, layers, kvHeads, headSize, element int) int)(nil),
		cases: []gradedCase{
			{category: "one of each", in: []any{1, 1, 1, 1, 1, 1}, want: []any{2}},
			{category: "Llama 3 8B, one token", in: []any{1, 1, 32, 8, 128, 2}, want: []any{131072}},
			{category: "a batch of texts", in: []any{16, 4096, 32, 8, 128, 2}, want: []any{8589934592}},
			{category: "an empty cache", in: []any{4, 0, 2, 2, 8, 4}, want: []any{0}},
		},
		hints: [2]string{
			"How many numbers does one token have in one block? There are keys and there are values.",
			"2 · batch · tokens · layers · kvHeads · headSize · element.",
		},
		praise: "The third case is 8 GiB: half as much as the weights of the model.",
	},
	"26.4": {
		name: "nucleus", args: []string{"probabilities", "p"},
		prototype: (func(probabilities []float64, p float64) []int)(nil),
		cases: []gradedCase{
			{category: "one is enough", in: []any{[]float64{0.1, 0.7, 0.2}, 0.5}, want: []any{[]int{1}}},
			{category: "two are needed", in: []any{[]float64{0.1, 0.7, 0.2}, 0.8}, want: []any{[]int{1, 2}}},
			{category: "at least one", in: []any{[]float64{0.25, 0.5, 0.25}, 0.0}, want: []any{[]int{1}}},
			{category: "all of them", in: []any{[]float64{0.25, 0.5, 0.25}, 1.0}, want: []any{[]int{1, 0, 2}}},
			{category: "exactly enough", in: []any{[]float64{0.25, 0.125, 0.5, 0.125}, 0.75}, want: []any{[]int{2, 0}}},
			{category: "equal ones", points: 2, in: []any{[]float64{0.125, 0.25, 0.125, 0.25, 0.25}, 0.6}, want: []any{[]int{1, 3, 4}}},
		},
		hints: [2]string{
			"Sort the ids, not the probabilities. When may you stop adding?",
			"Sort ids by falling probability with slices.SortStableFunc, then add until the sum is at least p; the id that reaches it belongs to the set.",
		},
		praise: "Choose in package transformer does this, then draws.",
	},
	// 27: several machines
	"27.3": {
		name: "stepBytes", args: []string{"stage", "ranks", "bytes"},
		prototype: (func(stage, ranks, bytes int) int)(nil),
		cases: []gradedCase{
			{category: "a single rank", in: []any{0, 1, 1000}, want: []any{0}},
			{category: "stage 0", in: []any{0, 4, 1000}, want: []any{1500}},
			{category: "stage 1", in: []any{1, 8, 8000}, want: []any{14000}},
			{category: "stage 2", in: []any{2, 2, 1000}, want: []any{1000}},
			{category: "stage 3", points: 2, in: []any{3, 4, 1000}, want: []any{2250}},
			{category: "a single rank, divided", in: []any{3, 1, 1000}, want: []any{0}},
		},
		hints: [2]string{
			"A reduce-scatter and an all-gather send (p-1)/p of the bytes each. Which of them does each stage need, and how often?",
			"Stages 0 to 2: one of each, 2·(ranks-1)·bytes/ranks. Stage 3 gathers the weights twice and scatters the gradients once. Multiply before you divide.",
		},
		praise: "Stage 3 sends half as much again, and that is all it costs.",
	},
	"27.4": {
		name: "held", args: []string{"stage", "ranks", "parameters"},
		prototype: (func(stage, ranks, parameters int) int)(nil),
		cases: []gradedCase{
			{category: "nothing divided", in: []any{0, 4, 1000}, want: []any{16000}},
			{category: "stage 1", in: []any{1, 4, 1000}, want: []any{10000}},
			{category: "stage 2", in: []any{2, 4, 1000}, want: []any{7000}},
			{category: "stage 3", in: []any{3, 4, 1000}, want: []any{4000}},
			{category: "a single rank", in: []any{3, 1, 1000}, want: []any{16000}},
			{category: "a large model", points: 2, in: []any{3, 64, 70_553_706_496}, want: []any{17_638_426_624}},
		},
		hints: [2]string{
			"Four bytes of weight, four of gradient and eight of averages for each parameter. Which of them does a stage divide by the number of ranks?",
			"The averages from stage 1 on, the gradients from 2 on, the weights in 3: replace parameters by parameters/ranks there.",
		},
		praise: "The last case is Llama 3 70B on 64 ranks: 17.6 GB each, where one alone would need 1.1 TB.",
	},
	"27.5": {
		name: "passes", args: []string{"rank", "step", "ranks"},
		prototype: (func(rank, step, ranks int) int)(nil),
		cases: []gradedCase{
			{category: "two ranks", in: []any{0, 0, 2}, want: []any{1}},
			{category: "the first step", in: []any{1, 0, 4}, want: []any{0}},
			{category: "a later step", in: []any{3, 1, 4}, want: []any{1}},
			{category: "past the end of the ring", points: 2, in: []any{0, 0, 4}, want: []any{3}},
			{category: "the last step", points: 2, in: []any{0, 6, 8}, want: []any{1}},
		},
		hints: [2]string{
			"A piece goes one rank further in each step, and takes ranks-1 steps. If piece 0 ends at rank 0, where was it at the beginning?",
			"Piece k begins at rank k+1, so at a given step it is at rank k+1+step. Solve for k, modulo ranks, and keep it from being negative.",
		},
		praise: "Two lines around this rule, a Send and a Receive, are a reduce-scatter.",
	},
	// 19: the training loop
	"19.4": {
		name: "step", args: []string{"w", "x", "y", "lr"},
		prototype: (func(w []float64, x [][]float64, y []float64, lr float64) ([]float64, float64))(nil),
		cases: []gradedCase{
			{category: "one weight, one example", in: []any{[]float64{1}, [][]float64{{2}}, []float64{6}, 0.1}, want: []any{[]float64{2.6}, 16.0}},
			{category: "weights that are right", in: []any{[]float64{3, 1}, [][]float64{{1, 2}, {0, 1}}, []float64{5, 1}, 0.5},
				want: []any{[]float64{3, 1}, 0.0}},
			{category: "two examples", in: []any{[]float64{1, -1}, [][]float64{{1, 2}, {0, 1}}, []float64{3, 1}, 0.05},
				want: []any{[]float64{1.2, -0.5}, 10.0}},
			{category: "four examples", points: 2,
				in:   []any{[]float64{0, 0}, [][]float64{{1, 0}, {0, 1}, {1, 1}, {2, -1}}, []float64{1, 2, 3, 0}, 0.1},
				want: []any{[]float64{0.2, 0.25}, 3.5}},
			{category: "inputs of zero", in: []any{[]float64{2, 2}, [][]float64{{0, 0}}, []float64{0}, 0.1}, want: []any{[]float64{2, 2}, 0.0}},
		},
		hints: [2]string{
			"All predictions must be made with the old weights. Does any weight change before the last example is done?",
			"For each example: the error e = prediction − y; add e²/B to the loss and 2/B·e·x[k] to grad[k]. At the end: w[k] − lr·grad[k], in a new slice.",
		},
		praise: "Batch, forward, loss, backward, step: all five lines, by hand.",
	},
	"19.5": {
		name: "rate", args: []string{"t", "warmup", "steps", "peak", "final"},
		prototype: (func(t, warmup, steps int, peak, final float64) float64)(nil),
		cases: []gradedCase{
			{category: "the start", in: []any{0, 20, 200, 0.05, 0.0}, want: []any{0.0}},
			{category: "during the warm-up", in: []any{10, 20, 200, 0.05, 0.0}, want: []any{0.025}},
			{category: "the peak", in: []any{20, 20, 200, 0.05, 0.0}, want: []any{0.05}},
			{category: "halfway down", in: []any{110, 20, 200, 0.05, 0.0}, want: []any{0.025}},
			{category: "on the way down", in: []any{65, 20, 200, 0.1, 0.01}, want: []any{0.08681980515339464}},
			{category: "the end", in: []any{200, 20, 200, 0.1, 0.01}, want: []any{0.01}},
			{category: "no warm-up", points: 2, in: []any{0, 0, 100, 0.3, 0.1}, want: []any{0.3}},
		},
		hints: [2]string{
			"Two cases: before the end of the warm-up and after. Do you divide whole numbers? In Go, 10/20 is 0.",
			"Below warmup: peak·t/warmup. Else: done = (t−warmup)/(steps−warmup), as float64, and the formula with cos(π·done).",
		},
		praise: "Give it to the loop, and set the optimizer's rate before each step.",
	},
	// 28: the capstone
	"28.1": {
		name: "crossEntropy", args: []string{"logits", "right"},
		prototype: (func(logits []float64, right int) (loss float64, gradient []float64))(nil),
		cases: []gradedCase{
			{category: "two equal logits", in: []any{[]float64{0, 0}, 0}, want: []any{0.6931471805599453, []float64{-0.5, 0.5}}},
			{category: "four equal logits", in: []any{[]float64{3, 3, 3, 3}, 2}, want: []any{1.3862943611198906, []float64{0.25, 0.25, -0.75, 0.25}}},
			{category: "a model that is right", in: []any{[]float64{0, 2, -1}, 1}, want: []any{0.16984601955628567, []float64{0.11419519938459449, -0.15620526551866054, 0.04201006613406605}}},
			{category: "a model that is wrong", in: []any{[]float64{0, 2, -1}, 2}, want: []any{3.1698460195562856, []float64{0.11419519938459449, 0.8437947344813395, -0.9579899338659339}}},
			{category: "a single token", in: []any{[]float64{5}, 0}, want: []any{0.0, []float64{0}}},
			{category: "large logits", points: 2, in: []any{[]float64{1000, 999, 0}, 1}, want: []any{1.3132616875182228, []float64{0.7310585786300049, -0.7310585786300049, 0}}},
			{category: "very negative logits", points: 2, in: []any{[]float64{-1000, -1001}, 0}, want: []any{0.31326168751822286, []float64{-0.2689414213699951, 0.2689414213699951}}},
		},
		hints: [2]string{
			"Do you get NaN or +Inf? math.Exp(1000) is infinite. What may you subtract from all logits without changing the softmax?",
			"largest := slices.Max(logits); total is the sum of math.Exp(l−largest). The loss is math.Log(total) − (logits[right] − largest); gradient[k] is " +
				"math.Exp(l−largest)/total, less 1 where k is right.",
		},
		praise: "Probability minus truth: everything that a language model learns begins with this line.",
	},
	"28.2": {
		name: "step", args: []string{"w", "x", "y", "lr"},
		prototype: (func(w [][]float64, x, y []int, lr float64) ([][]float64, float64))(nil),
		cases: []gradedCase{
			{category: "one pair", in: []any{[][]float64{{0, 0}, {0, 0}}, []int{0}, []int{1}, 1.0},
				want: []any{[][]float64{{-0.5, 0.5}, {0, 0}}, 0.6931471805599453}},
			{category: "a rate of 0", in: []any{[][]float64{{1, 2}, {3, 4}}, []int{0, 1}, []int{1, 1}, 0.0},
				want: []any{[][]float64{{1, 2}, {3, 4}}, 0.31326168751822286}},
			{category: "two rows", in: []any{[][]float64{{0, 0}, {1, -1}}, []int{0, 1}, []int{1, 0}, 0.5},
				want: []any{[][]float64{{-0.125, 0.125}, {1.0298007305055294, -1.0298007305055294}}, 0.41003759580145893}},
			{category: "the same token twice", points: 2, in: []any{[][]float64{{0, 0}, {0, 0}}, []int{0, 0}, []int{0, 1}, 1.0},
				want: []any{[][]float64{{0, 0}, {0, 0}}, 0.6931471805599453}},
			{category: "the same pair twice", points: 2, in: []any{[][]float64{{0, 1}, {2, 0}}, []int{1, 1, 0}, []int{0, 0, 1}, 2.0},
				want: []any{[][]float64{{-0.17929428091333008, 1.17929428091333}, {2.1589372293628237, -0.1589372293628234}}, 0.1890392365347227}},
			{category: "three tokens", in: []any{[][]float64{{0, 1, 2}, {2, 0, -1}, {0, 0, 0}}, []int{0, 2, 1, 2}, []int{1, 0, 2, 2}, 0.3},
				want: []any{[][]float64{{-0.006752292987778534, 1.0566453646708902, 1.9501069283168884}, {1.9367153949138995, -0.008564639953844587, -0.928150754960055}, {0.025000000000000005, -0.049999999999999996, 0.025000000000000005}}, 1.6936691403342214}},
		},
		hints: [2]string{
			"A token may occur twice in a batch. Does its second occurrence see the old weights, too? And did you take the mean, in the loss and in the gradient?",
			"Copy w row by row first. For each pair call crossEntropy(w[x[i]], y[i]) with the old w; add loss/B, and subtract lr/B·gradient[k] from next[x[i]][k].",
		},
		praise: "Batch, forward, loss, backward, step: this one trains a language model.",
	},
	"28.3": {
		name: "backward", args: []string{"w", "x", "gy"},
		prototype: (func(w, x, gy [][]float64) (gw, gx [][]float64))(nil),
		cases: []gradedCase{
			{category: "one number", in: []any{[][]float64{{3}}, [][]float64{{2}}, [][]float64{{1}}},
				want: []any{[][]float64{{2}}, [][]float64{{3}}}},
			{category: "one output", in: []any{[][]float64{{1, 2}}, [][]float64{{3, 4}}, [][]float64{{10}}},
				want: []any{[][]float64{{30, 40}}, [][]float64{{10, 20}}}},
			{category: "one input", in: []any{[][]float64{{1}, {2}, {3}}, [][]float64{{5}}, [][]float64{{1, -1, 2}}},
				want: []any{[][]float64{{5}, {-5}, {10}}, [][]float64{{5}}}},
			{category: "a batch of two", points: 2, in: []any{[][]float64{{1, 2}}, [][]float64{{3, 4}, {5, 6}}, [][]float64{{1}, {-2}}},
				want: []any{[][]float64{{-7, -8}}, [][]float64{{1, 2}, {-2, -4}}}},
			{category: "a square", in: []any{[][]float64{{1, 2}, {3, 4}}, [][]float64{{1, 0}, {0, 1}}, [][]float64{{1, 2}, {3, 4}}},
				want: []any{[][]float64{{1, 3}, {2, 4}}, [][]float64{{7, 10}, {15, 22}}}},
			{category: "three inputs, two outputs", points: 2, in: []any{[][]float64{{1, 0, 2}, {-1, 3, 0.5}}, [][]float64{{1, 2, 3}, {0, -1, 4}}, [][]float64{{1, 2}, {0.5, -1}}},
				want: []any{[][]float64{{1, 1.5, 5}, {2, 5, 2}}, [][]float64{{-1, 6, 3}, {1.5, -3, 0.5}}}},
		},
		hints: [2]string{
			"gw has the shape of w, gx that of x. Each product w[o][k] · x[i][k] went into y[i][o]. Which sum is left for gw, and which for gx?",
			"Three loops, over i, o and k, around two lines: gw[o][k] += gy[i][o]·x[i][k] and gx[i][k] += gy[i][o]·w[o][k].",
		},
		praise: "Two matmuls backward for one forward: that is where the 6 in 6·N·D comes from.",
	},
	"28.4": {
		name: "draw", args: []string{"logits", "temperature", "u"},
		prototype: (func(logits []float64, temperature, u float64) int)(nil),
		cases: []gradedCase{
			{category: "the first of two", in: []any{[]float64{0, 0}, 1.0, 0.3}, want: []any{0}},
			{category: "the second of two", in: []any{[]float64{0, 0}, 1.0, 0.7}, want: []any{1}},
			{category: "u is 0", in: []any{[]float64{1, 2, 3}, 1.0, 0.0}, want: []any{0}},
			{category: "probabilities of 1/7, 2/7 and 4/7", points: 2, in: []any{[]float64{0, math.Ln2, 2 * math.Ln2}, 1.0, 0.41}, want: []any{1}},
			{category: "the same, cold", in: []any{[]float64{0, math.Ln2, 2 * math.Ln2}, 0.5, 0.3}, want: []any{2}},
			{category: "the same, hot", in: []any{[]float64{0, math.Ln2, 2 * math.Ln2}, 2.0, 0.2}, want: []any{0}},
			{category: "a temperature of 0", points: 2, in: []any{[]float64{1, 3, 2}, 0.0, 0.99}, want: []any{1}},
			{category: "large logits", in: []any{[]float64{1000, 1001}, 1.0, 0.5}, want: []any{1}},
			{category: "the last one", in: []any{[]float64{0, 0, 0}, 1.0, 0.999999}, want: []any{2}},
		},
		hints: [2]string{
			"Lay the probabilities end to end on a line from 0 to 1. Where does u fall? And what does a temperature of 0 do to a division?",
			"At 0 return the place of the largest logit. Else the weights are math.Exp((l−largest)/temperature); subtract them one by one from u·total, and return " +
				"the first k at which that is below 0; the last k if rounding leaves none.",
		},
		praise: "One uniform number, one token: this is how every chatbot writes.",
	},
}

// An Op is an operation on a tape of values, for exercise 11.5. Values are numbered: first come the inputs, then the
// result of each operation.
type Op struct {
	Name string // add, mul, pow, exp or relu
	A, B int    // the numbers of its inputs; exp and relu ignore B, and so does the gradient of pow
}
