package lesson

// remarks say more about the questions of [Guess] than their cells may show: why the answer is what it is, and what a certain wrong guess comes
// from. They go by the text of the question.
var remarks = map[string][]Option{
	// 00: napkin math
	"How many FLOPs does the training take?": {
		Why("6 · 70e9 · 15e12."), Mistake(1.05e24, "That is parameters times tokens. What about the 6?"), Mistake(2.1e24, "That is the forward pass alone."),
	},
	"How many days does the training take?": {
		Why("6.3e24 / 4.377e22."), Mistake(72, "Did you take the rate for sparse matrices, or an MFU of 1?"), Mistake(1.44, "Look at the two exponents again."),
	},
	"How many days at an MFU of 0.3?": {Why("144 · 0.5 / 0.3."), Mistake(86.4, "A smaller MFU takes longer.")},
	"How many parameters fit on eight H100s?": {
		Why("640e9 bytes, 16 for each."), Mistake(5e9, "That is on one of them."), Mistake(160e9, "Only if each parameter took 4 bytes: there is more to remember."),
		Mistake(50e9, "That is with 100 GB for each GPU. An H100 has 80."), Mistake(5242880, "80·1024·1024/16 counts KiB, and a single GPU. The card has 80e9 bytes."),
	},
	"How many bytes per parameter do you save?": {
		Why("2 + 2 + 4 + 8 is 16 again."), Mistake(4, "The master copy takes four bytes again."), Mistake(8, "m and v stay in 32 bits, and there is a master copy."),
	},
	"How many parameters fit without a master copy?": {Why("640e9 / (2 + 2 + 8)."), Mistake(80e9, "That would be 8 bytes per parameter. m and v take 8 by themselves.")},
	// 01: tokenization
	"How many bytes per token?": {
		Why("The text takes 20 bytes and 13 tokens."), Mistake(0.65, "That is tokens per byte."), Mistake(1, "Only if each character took one byte."),
	},
	"How many tokens is 🌍?":                      {Why("It takes four bytes in UTF-8.")},
	"How many pieces does GPT-2's pattern make?": {Mistake(8, "The simple pattern makes 8. Where does GPT-2's keep the spaces?")},
	"How many tokens for the fox?": {
		Why("`the ` takes one token instead of four."), Mistake(15, "Four bytes become one token: how many fewer is that?"),
	},
	// 02: tensors
	"What is the shape of x?":             {Why("Two rows of three."), Mistake([]int{3, 2}, "Rows come first."), Mistake([]int{6}, "That is how many elements there are.")},
	"Which type do whole numbers get?":    {Why("They have to be exact, and able to number the elements of any tensor.")},
	"How many bytes do 4 × 8 zeros take?": {Why("4 · 8 · 4."), Mistake(32, "That is how many there are. Each has 4 bytes."), Mistake(0, "A zero takes as much room as any other number.")},
	"How many numbers from 0 to 2 in steps of 0.5?": {
		Why("0, 0.5, 1 and 1.5: the stop is left out."), Mistake(5, "2 itself is left out."),
	},
	"What is the second of five numbers from 0 to 1?":  {Why("Five numbers have four gaps between them."), Mistake(0.2, "How many gaps are there between five numbers?")},
	"Which of the two takes longer?":                   {Why("Writing takes time. Reserving takes next to none.")},
	"How large is the largest of a million?":           {Why("Fewer than one normal number in a million lies beyond 5.")},
	"What happens to the standard deviation?":          {Why("Without tails there is less spread: 0.88.")},
	"How many of the four are as large as the weight?": {Why("Its gradient and its optimizer state."), Mistake(4, "A batch of two has two rows.")},
	"Are they the same numbers?":                       {Why("A generator computes its numbers from the seed.")},
	// 03: number formats
	"How many MiB is GPT-3's matrix?": {
		Why("49152 · 12288 · 4 bytes, over 1024 · 1024."), Mistake(576, "Times four: there are four times as many outputs."), Mistake(2415, "That is in millions of bytes."),
		Mistake(2416, "That is in millions of bytes."),
	},
	"What number is 0 10000001 01000…?": {
		Why("1.25 · 2^(129 − 127)."), Mistake(1, "That is 0.25 · 4. There is a 1 in front of the point, which isn't stored."), Mistake(1.25, "And the exponent?"),
		Mistake(6, "The first bit after the point is worth ½, the second ¼."),
	},
	"Which fields change from 1.5 to 3?": {Why("1.5 · 2⁰ becomes 1.5 · 2¹.")},
	"What is 1e-8 in float16?":           {Why("The smallest float16 is about 6e-8."), Mistake(1e-8, "The smallest float16 is about 6e-8.")},
	"What is 1e-8 in bfloat16?":          {Why("The exponent has room for it; the mantissa is too short for all of its digits.")},
	"How many E4M3 numbers are there from 1 to 8?": {
		Why("8 from 1 to 2, from 2 to 4, and from 4 to 8."), Mistake(56, "That would be equal steps. But the steps double with each exponent."),
		Mistake(64, "That would be equal steps. But the steps double with each exponent."), Mistake(32, "Without 8 itself, there are three powers of two."),
		Mistake(25, "Without 8 itself."),
	},
	"What is the eps of bfloat16?": {
		Why("2 to the −7."), Mistake(1./256, "The 7 bits come after the point; the last one is worth 1/128."),
	},
	"Where do 1000 updates of 0.003 end in bfloat16?": {
		Why("Each sum is rounded back to 1."), Mistake(4, "In exact arithmetic, yes. Which bfloat16 comes next after 1?"),
	},
	"Which FP8 is for gradients?": {Why("Gradients need the range.")},
	"How many bits does a number cost in NVFP4?": {
		Why("4, and 8 bits of scale for 16 numbers."), Mistake(4, "And the scale?"), Mistake(4.25, "That is with blocks of 32."), Mistake(12, "Each block of 16 shares one scale."),
	},
	"By what percentage is NVFP4 off?": {Why("The gaps between E2M1's numbers are large, and only the scale is fine.")},
	// 04: devices
	"Where does a new tensor live?": {Why("Unless you say otherwise: nobody knows better than you whether a trip is worth it.")},
	"How many times as fast is the GPU's own memory?": {
		Why("3350 GB/s against 64."), Mistake(0.0191, "Is the memory slower than the link?"), Mistake(52300, "Check the powers of ten: 3.35 TB/s are 3350 GB/s."),
	},
	"How many milliseconds does the matrix take?": {
		Why("2.416e9 bytes over 64e9 bytes per second."), Mistake(36, "2304 MiB are 2.416e9 bytes, not 2.304e9."), Mistake(9.44, "Each number takes four bytes in float32."),
	},
	"How many times as long does the trip take?": {
		Why("37.7 ms against 1.25 ms."), Mistake(60.4, "Each number takes two FLOPs per token, a multiplication and an addition."),
	},
	"By how many bytes does the GPU's memory in use grow?": {Why("2 · 32 · 32 · 4."), Mistake(4096, "There are two tensors."), Mistake(2048, "Each number takes four bytes.")},
	"What does To return if there is nothing to do?":       {Why("A copy costs time and memory, so it is made where it is needed, and nowhere else.")},
	// 05: storage, strides, views
	"What are the strides of x?": {
		Why("The next row is four places away, the next column one."), Mistake([]int{1, 4}, "The first stride is that of the first axis: a step down."),
	},
	"At which storage index is (1, 2)?": {Why("1·4 + 2·1."), Mistake(9, "Are the strides the other way round?"), Mistake(7, "Indices count from 0.")},
	"How many of the four are copies?":  {Why("Each is only a new shape with new strides.")},
	"What is transposed (0, 0) now?":    {Why("Both read the same place of the same storage."), Mistake(1, "It would be, if the transpose were a copy.")},
	// 06: elementwise operations
	"What is 1/√x for 1, 4 and 9?": {
		Why("One over 1, 2 and 3."), Mistake([]float64{1, 0.25, 1. / 9}, "That is 1/x. Take the root, too."),
		Mistake([]float64{1, 2, 3}, "Those are the roots. One over them?"),
	},
	"What is in firstTwo now?": {Why("It has no memory of its own."), Mistake([]float64{1, 4}, "It would be, if it were a copy.")},
	"What shape is a [3 1] plus a [4]?": {
		Why("[4] counts as [1 4]. The column is repeated to the right, the row downwards."), Mistake([]int{3, 1}, "Both are repeated, each along the axis where it has a 1."),
	},
	"Does a [2] fit a [2 3]?": {Why("Shapes are aligned at the last axis, and there 3 meets 2.")},
	"What is the error of perfect predictions?": {
		Why("[4 1] minus [4] is [4 4]: each prediction meets each target."), Mistake(0, "That is what you want. Look at the shapes, [4 1] and [4]."),
	},
	"What type is whole.Div(2)?":        {Why("Halves aren't whole numbers, and the usual floating point is float32.")},
	"What type is half.Mul(2.5)?":       {Why("A plain number takes on the type of the tensor.")},
	"How many ones does Triu(1) leave?": {Why("2 in the first row, 1 in the second."), Mistake(6, "That is Triu(0): with the diagonal.")},
	"What share does the last token give to the first?": {
		Why("Three equal scores, and the last token sees all three."),
	},
	"What does the formula give for two scores of 1000?": {Why("e to the 1000 is +Inf, and Inf/Inf isn't a number.")},
	// 07: matrix multiplication
	"What shape is [16 32] times [32 2]?": {Why("The inner sizes, 32 and 32, disappear."), Mistake([]int{32, 32}, "Those are the sizes that disappear.")},
	"What is the element in row 1, column 0?": {
		Why("4·1 + 5·0 + 6·2."), Mistake(7, "That is row 0: rows count from 0."), Mistake(8, "That is row 0, column 1."), Mistake(17, "That is column 1."),
	},
	"What shape is [4 8 16 32] times [32 2]?": {Why("The last two axes are multiplied; those in front are batches.")},
	"What shape do the scores have?": {
		Why("Two batch axes, and then [8 64] times [64 8]."), Mistake([]int{4, 12, 64, 64}, "Which axes does the transpose swap? The last of the queries meets size 64."),
	},
	"How many FLOPs is [16 32] times [32 2]?": {
		Why("2 · 16 · 32 · 2."), Mistake(1024, "Each step is a multiplication and an addition."), Mistake(64, "That is for one of the 32 results."),
	},
	"Which step gains more?":              {Why("At does much more than read a number.")},
	"Which order of the loops is faster?": {Why("It uses all the numbers of each cache line.")},
	"How many times fewer numbers with tiles of 64?": {
		Why("Each number of a tile is used 64 times."), Mistake(4096, "A tile has that many numbers. How often is each of them used?"),
	},
	// 08: named dimensions
	"What is the shape of the products?":         {Why("For each example, each of 3 vectors meets each of 3.")},
	"What are the first sum and the first mean?": {Why("Four ones add up to 4; their mean is 1.")},
	"What is the shape after the split?":         {Why("The last axis, 8, has become 2 heads of 4.")},
	"What is the shape at the end?":              {Why("The heads are joined again.")},
	// 09: counting FLOPs
	"How many years for GPT-3 on one H100?": {Why("FLOPs divided by FLOP/s are seconds.")},
	"How many FLOPs do 8 H100s do in a week?": {
		Why("8 · 604,800 seconds · 989.5e12."), Mistake(9.575e21, "Did you halve the 1979e12? That is the rate for sparse matrices."),
	},
	"How many times slower are 32 bits on an H100?": {Mistake(2, "The size is twice as large, but that is not all.")},
	"How many FLOPs is x.Matmul(w)?": {
		Why("2 · B · D · K."), Mistake(1024*256*64, "Each step is a multiplication and an addition."),
	},
	"How many times the work of x.Add(x) is it?": {Why("2·B·D·K against B·D is 2·K."), Mistake(64, "Each step of the product is two operations.")},
	// 10: model FLOPs utilization
	"What is the median without the first run?": {
		Why("Sorted: 1.9, 2.0, 2.0, 2.1, 2.1, 6.3. In the middle are 2.0 and 2.1."), Mistake(2.0, "That is one of the two in the middle."),
		Mistake(2.1, "That is one of the two in the middle, or the median of all seven."),
	},
	"What is the peak of that core in GFLOP/s?": {Why("3 · 2 · 16 · 2."), Mistake(96, "Twice that: multiplying and adding, or the two units?")},
	"What MFU do you find without waiting?":     {Why("8.8e12 FLOPs in 10e-6 seconds would be 8.8e17 FLOP/s.")},
	"What is the MFU of the run that recomputes?": {
		Why("Of 8 FLOPs the model needs 6."), Mistake(0.6, "That is the utilization of the hardware."), Mistake(0.8, "It can only get less."),
	},
	"What is the MFU of n = 16?": {Why("The call takes longer than the arithmetic.")},
	"At what n does arithmetic begin to limit an H100?": {
		Why("n/3 = 295."), Mistake(295, "That is the intensity. A product of n has n/3 in bf16."), Mistake(1772, "That would be with 4 bytes."),
	},
	// 11: gradients
	"What is the loss?": {Mistake(1, "Don't forget the half."), Mistake(0.25, "The half is outside the square.")},
	"What is the gradient of w?": {
		Why("It is the error, 1, times the inputs."),
		Mistake([]float64{6, 12, 18}, "That is the prediction times the inputs. The error is the prediction minus 5."),
	},
	"By how much does the loss fall?": {Why("To first order by 0.01 · |g|² = 0.14, but the slope gets flatter on the way.")},
	"What is the gradient after two calls of Backward?": {
		Why("Gradients add up until somebody clears them."),
		Mistake([]float64{1, 2, 3}, "That would be the second one alone."),
	},
	// 12: what gradients cost
	"How many FLOPs is the forward pass?": {Why("2BDD + 2BDK.")},
	"How many elements of h2 does one weight touch?": {
		Why("Each example goes through each weight once, so that is one element for each example."), Mistake(8, "A weight leads to a single output."),
		Mistake(1, "It is used for every example."), Mistake(2, "That would be an element of h1."),
	},
	"How many FLOPs is the gradient of h1?":                   {Why("12 elements, each a sum of 2 products: 2 · 4 · 3 · 2."), Mistake(24, "A multiplication and an addition.")},
	"How many products does backward compute?":                {Why("The gradient of x is not asked for."), Mistake(4, "Does anyone ask for the gradient of x?")},
	"How many times forward's FLOPs does backward take then?": {Why("Two matmuls for each one in the forward pass.")},
	"What share of the rule is counted in two layers?": {
		Why("88 of 120: the rule says 6 · 20 K² per example, and 2 · 16 K² are saved."), Mistake(0.6, "That is backward alone."),
	},
	"What percentage is missing in twelve layers?": {Why("One product of 36.")},
	// 13: parameters and initialisation
	"How large is a typical output?": {
		Why("It is about the root of 16,384."), Mistake(16384, "That would be if all products had the same sign."), Mistake(1, "That is a single product."),
	},
	"With four times the inputs, how many times the size?": {Why("The root of 4."), Mistake(4, "It grows with the root.")},
	"How large is an output now?":                          {Why("The root of the number of inputs cancels.")},
	"How many of about 1400 does the cut remove?": {
		Why("−3 and 3 are 384 standard deviations away."), Mistake(1400, "That is what it looks like. How large is 3 in standard deviations of 1/128?"),
	},
	"How large is the signal after 20 layers?": {Why("It shrinks by √2 in each layer."), Mistake(1, "It would, without the ReLU.")},
	"Which rule gives the smallest numbers?":   {Why("It is the only one without a factor of 2.")},
	// 14: models
	"What shape comes out of the layer?": {Why("8 examples, 64 outputs each."), Mistake([]int{64, 64}, "That is the weight.")},
	"What shape comes out of the model?": {
		Why("The final layer makes [8 1], and Squeeze takes the last axis away."), Mistake([]int{8, 1}, "That is before Squeeze."),
		Mistake([]int{8, 64}, "That is what goes into the final layer."),
	},
	"What is the second layer's weight called?": {
		Why("Field names become lower case, and elements count from 0."), Mistake("layers.2.weight", "Elements of a slice count from 0."),
	},
	"How many parameters does the model have?": {
		Why("64² + 64² + 64."), Mistake(8192, "The final layer counts, too."), Mistake(12288, "The final layer has a single output."),
	},
	"Does it load the two layers that fit?":           {Why("All or nothing.")},
	"Does it count without the hidden layers?":        {Why("It sees that there is a tensor which it can't reach, and stops.")},
	"How many bytes does it take in bfloat16?":        {Why("Two bytes instead of four for each number.")},
	"How many parameters have a gradient?":            {Why("All three are used, and all three ask for one.")},
	"What shape is the gradient of the final weight?": {Why("A gradient always has the shape of its parameter."), Mistake([]int{8, 1}, "That is the shape of the outputs.")},
	// 16: data
	"How many bytes does the file have?": {Why("41 ids of 4 bytes."), Mistake(41, "An int32 takes four bytes."), Mistake(1312, "That is in bits.")},
	"How many ids of two bytes are in the file?": {
		Why("The bytes stay the same, and two of them make an id."), Mistake(41, "The file doesn't say how many there are. Its size does."),
	},
	"How many terabytes is LLaMA's data?": {Why("1.4e12 · 2 bytes.")},
	"Does the heap grow by more than a megabyte?": {
		Why("A single page was read, and even that is not on Go's heap: it belongs to the operating system."),
	},
	"How many pages does a batch touch at most?": {
		Why("A sequence of 512 bytes can lie across the boundary between two pages."), Mistake(4, "Unless a sequence crosses a boundary."),
		Mistake(1, "The sequences are in different places."),
	},
	"How many starts are there for x alone?": {Why("n − L + 1 = 2: 10 11 12 and 11 12 13."), Mistake(1, "11 12 13 is a sequence of 3, too.")},
	"And for a pair of x and y?": {
		Why("n − L = 1: y needs an id after the last of x."), Mistake(2, "What would be the last target of 11 12 13?"),
	},
	"How many times as often is the middle id read?": {
		Why("Six sequences reach it: it can be the first of a sequence, the second, and so on to the sixth."),
	},
	"What is the first row of Y?": {Why("The same ids, shifted by one.")},
	"How many batches are in an epoch?": {
		Why("32 ids can be predicted: 8 sequences, two in a batch."), Mistake(8, "That is how many sequences there are."),
	},
	"Is any id predicted twice?": {Why("The targets of the sequences don't overlap.")},
	"How many ms do 20 steps take at best?": {
		Why("The model waits 2 ms for the first batch, and never again."), Mistake(80, "Who fetches the first batch, and when?"),
		Mistake(120, "That is one after the other."),
	},
	// 15: randomness
	"What value does a survivor have?": {
		Why("1 / 0.9: nine tenths of the ones have to make up for the rest."), Mistake(1, "Then the mean would be 0.9."),
		Mistake(0.9, "That makes the mean even smaller."), Mistake(1.1, "900,000 times 1.1 is not yet a million."), Mistake(10, "0.1 is the probability of being dropped."),
	},
	"What becomes of four ones in use?": {
		Why("Nothing is dropped, so nothing has to be made up for."), Mistake([]float64{0.9, 0.9, 0.9, 0.9}, "The scaling was done during training."),
	},
	"What comes after 7?":                         {Why("5·7 + 3 = 38, and 38 mod 16 is 6."), Mistake(38, "Don't forget to divide by 16 and take what remains.")},
	"After how many numbers is it back at 7?":     {Why("It goes through all 16 numbers below 16."), Mistake(15, "0 is a number, too.")},
	"Which draws are equal?":                      {Why("Both begin at the seed 42; the second draw begins where the first one ended.")},
	"Do both see the data in the same order?":     {Why("The order is drawn from wherever the initial values left the generator.")},
	"Is the order the same with streams?":         {Why("What one stream draws doesn't move the other.")},
	"What do the two runs have in common?":        {Why("The same numbers go through the same operations in the same order.")},
	"How many of the eight are equal to the run?": {Why("No run takes another run's numbers.")},
	"Are the bits the same with one thread and with four?": {
		Why("The order of a sum depends on its length alone."),
	},
	// 17: optimizers
	"What is the gradient at (4, 1)?": {Why("It is five times as large across the valley as along it.")},
	"Where does one step of SGD lead?": {
		Mistake([]float64{4.12, 1.6}, "That is uphill: the step goes against the gradient."),
	},
	"Where does b settle?": {
		Why("Once b has settled, b = 0.9·b + 1, so b = 1 / (1 − 0.9)."),
		Mistake(0.9, "That is m. What is b when it no longer changes?"),
	},
	"How long is the first step, along and across?": {Why("Dividing g by its own size leaves only its sign.")},
	"How long is the first step without correction?": {
		Why("0.1 divided by the root of 0.001."),
		Mistake(1, "That is the length with the correction."), Mistake(100, "Did you take the root of 0.001?"),
	},
	"And Adam, with the decay in the gradient?":  {Why("The first step of Adam is one learning rate long, whatever the gradient.")},
	"What shape is the state of a [4 4] weight?": {Why("It keeps one sum of squares for each parameter.")},
	"How many numbers does AdamW keep per parameter?": {
		Why("They are m and v."), Mistake(3, "The learning rate is one number for all parameters."),
	},
	"How many bytes do the zeros take?": {Why("Zeros are numbers like any others."), Mistake(0, "A zero takes as many bytes as any other number.")},
	// 18: memory accounting
	"How many bytes are on the bill?": {
		Why("4 · (36 + 16 + 36 + 36)."), Mistake(124, "That is how many numbers there are. How many bytes does each take?"),
		Mistake(448, "Don't forget the D weights of the final layer."), Mistake(352, "AdaGrad keeps a number per parameter, too."),
	},
	"How many bytes of activations does the run hold?": {
		Why("64, and the B = 2 differences that the loss squares, of four bytes each."),
		Mistake(64, "That is the formula. Which numbers does the loss square?"), Mistake(68, "There is a difference for each example."),
		Mistake(104, "The batch was there before: it counts as data."),
	},
	"How many bytes of activations are left after backward?": {
		Why("Each was let go as soon as backward had used it."), Mistake(72, "That is how many there were before Backward."),
	},
	"Is the highest total equal to that sum, or lower?": {Why("When the last gradient is there, no activation is left.")},
	"What grows with the batch?":                        {Why("Only activations have the batch among their axes: a gradient has the shape of its parameter.")},
	"How many bytes does a parameter cost with Adam?": {
		Why("4 each for the parameter, its gradient, m and v."), Mistake(8, "That is what Adam's own two numbers take."),
		Mistake(12, "Did you count the gradient? It is only missing between the steps."),
	},
	"How many FLOPs does the counter find?": {
		Why("432 less 2 · 2 · 4 · 4."), Mistake(432, "That is the rule. Which product is never computed?"),
	},
	// 20: checkpoints
	"With the model alone, are the weights the same?": {Why("Something else in the run has a state, too.")},
	"With model and optimizer, are they the same?":    {Why("The model sees the first 20 batches for the second time.")},
	"How large is the largest difference now?":        {Why("Every bit is the same: nothing that has a state was left out.")},
	"How many bytes of numbers are in the file?": {
		Why("136 · (1 + 2) · 4."), Mistake(544, "That is the model alone."), Mistake(2176, "Gradients are not saved: each step computes them again."),
		Mistake(408, "So many numbers, yes. And how many bytes has each?"),
	},
	"How many bytes of numbers does the model alone have?": {Why("136 · 4: a third of the checkpoint.")},
	"From which step does it continue?": {
		Why("The checkpoint of step 40 is damaged, so it takes the one before."), Mistake(40, "With half a file?"), Mistake(20, "There is a newer one that is whole."),
	},
	"Is the flipped bit noticed?": {Why("A checksum of all numbers changes with any one bit of them.")},
	// 21: mixed precision
	"Where does the bfloat16 parameter end?": {
		Why("1 − 0.001 is closer to 1 than to the number below it, 0.996, so each step is rounded away."), Mistake(0.9, "It would, in float32."),
	},
	"Where do they end on average?": {Why("What chance takes from one it gives to another."), Mistake(1, "In a quarter of the cases it moves.")},
	"What is the gradient of the weight?": {
		Why("1e-8 is less than half of float16's smallest number, so it is rounded to 0 before anything is added up."),
		Mistake(4e-8, "It would be, in float32."), Mistake(1e-8, "It would be, for one row, in float32."),
	},
	"What is the gradient now?": {
		Why("65536 · 1e-8 fits into float16; the four rows are added up and divided again."), Mistake(1e-8, "There are four rows."),
		Mistake(0.002621, "That is before the division."),
	},
	"What are the scales of the 8 steps?": {
		Why("Three good steps double it, and the overflow halves it. After the overflow, three more good steps are needed."),
		Mistake([]float64{1024, 1024, 1024, 2048, 1024, 1024, 1024, 2048}, "Step 4 is the one that overflows: its own scale is still 2048."),
	},
	"What type is the product?":  {Why("Matmuls are on the list of operations that run in 16 bits.")},
	"And the softmax?":           {Why("Its input is converted back to float32 first, for the range of the exponentials.")},
	"What type is the gradient?": {Why("A conversion's backward is a conversion back, to the type of the weight.")},
	"How many times as large is bfloat16's error?": {
		Why("Each bit of mantissa halves it, and bfloat16 has three fewer."), Mistake(3, "Three bits are a factor of 2 · 2 · 2."),
	},
	"How many times as fast is TF32?":                 {Why("494.5 TFLOP/s against 67: half of bfloat16's rate.")},
	"What is the scale of the weights?":               {Why("448 / 0.125 = 3584, and the power of two below it is 2048."), Mistake(4096, "That would move 0.125 to 512."), Mistake(3584, "That isn't a power of two.")},
	"Is the first large step as exact as the second?": {Why("Its scale follows from the steps before, when values were small.")},
	"Which recipe ends with the largest error?":       {Why("Most of its gradients are 0.")},
	// 22: the roofline
	"What are the intensities of ReLU and GELU?": {
		Why("1 FLOP for 4 bytes, and 20 for 4."), Mistake([]float64{0.5, 10}, "The result has to be written, too."),
	},
	"What is the intensity of a dot product?": {
		Why("About 2n FLOPs for 4n bytes."), Mistake(1, "A number has two bytes."), Mistake(2, "Is it FLOPs over bytes?"),
	},
	"What is the intensity of a matrix times a vector?": {
		Why("About 2n² FLOPs for 2n² bytes."), Mistake(0.5, "The vector is read only once for all n dot products, so half of the bytes are gone."),
	},
	"What is the intensity of a matmul?": {
		Why("About 2n³ FLOPs for 6n² bytes, so n/3."), Mistake(682.3333, "Three matrices of n² numbers, of two bytes each."),
		Mistake(1024, "How many bytes are three matrices?"), Mistake(512, "Don't forget to write the result."),
	},
	"How many FLOPs per byte keep an H100 busy?": {
		Why("989.5e12 FLOP/s over 3.35e12 bytes/s."), Mistake(590.7, "That is with the rate for sparse matrices."),
	},
	"Which operations are compute-bound?": {Why("Its 341 FLOPs per byte are above the machine's 295; GELU's 5 come next.")},
	"How many times as long does GELU take?": {
		Why("Both move 4n bytes, and wait for those."), Mistake(20, "That would be so if the arithmetic were what they wait for."),
	},
	"Is the matmul compute-bound in float32?": {Why("171 FLOPs per byte, and the machine does only 20.")},
	// 23: memory for compute
	"How many parameters do three blocks have?": {Why("3 · 8 · 8."), Mistake(64, "That is one block.")},
	"How many bytes are the activations of 16 blocks?": {
		Why("2 · 64 · 1024 · 16."), Mistake(1048576, "That is how many numbers. Each takes two bytes."), Mistake(131072, "That is one block."),
		Mistake(4194304, "Each number takes two bytes in bfloat16."),
	},
	"How many bytes with four micro-batches?":   {Why("2 · 16 · 1024 · 16."), Mistake(2097152, "Are all four in memory at the same time?")},
	"Is the gradient the same to the last bit?": {Why("Floating-point sums depend on the order of their terms.")},
	"How many times as large is it without the ¼?": {
		Why("Four means are added where one mean is wanted."), Mistake(0.25, "Is it too large or too small?"), Mistake(1, "Does a sum of four means equal their mean?"),
	},
	"Is it the same to the last bit with checkpoints?": {Why("Nothing is added in another order.")},
	"Which segments need the least memory?": {
		Why("16/4 − 1 + 4 = 7. With 2 or 8 it is 9, with 1 or 16 all 16."), Mistake(1, "Then there are 15 checkpoints."),
		Mistake(16, "Then all 16 outputs come back at once."),
	},
	"How many extra forward passes do checkpoints cost?": {
		Why("Each block is computed once more."), Mistake(4, "Each segment is computed again, but only once."), Mistake(0.25, "All four segments are computed again."),
	},
	"How many extra forward passes does keeping nothing cost?": {
		Why("16 + 15 + … + 1 = 136 blocks are computed again, and 136 / 16 = 8.5."), Mistake(136, "That is in blocks. How many forward passes of 16 blocks?"),
		Mistake(16, "Late blocks need nearly all the others again, early ones only a few."),
	},
	// 24: a Transformer
	"How many scores do five tokens have?":       {Why("One for each pair, a token with itself included."), Mistake(20, "A token also asks itself.")},
	"How many weights are not 0?":                {Why("Token t sees t + 1 tokens: 1 + 2 + 3 + 4 + 5."), Mistake(10, "The diagonal counts: each token sees itself.")},
	"Does the order of the others matter to it?": {Why("A weighted mean has no order, and the weights only depend on what the tokens say.")},
	"What happens to the dot product?":           {Why("Both are rotated by the same additional angle.")},
	"How wide is the middle?":                    {Why("8·D² = 3·D·hidden."), Mistake(3072, "That is 4·D, for two matrices. Here are three.")},
	"Which part has the most parameters?":        {Why("3·D·192 in each block, beside 4·D² of attention.")},
	"What is the loss at the start?":             {Why("ln 256 = 5.55 is what a uniform guess costs."), Mistake(8, "8 bits, yes; but in nats it is 8·ln 2.")},
	// 25: what a Transformer costs
	"Which part of GPT-2 small is the largest?":               {Why("12 · 2 · 768 · 3072, and some biases.")},
	"How many times as many FLOPs does backward take?":        {Why("One product for the gradient of the weight, one for that of the input.")},
	"At what context length is attention half of it all?":     {Why("2 · 123.5e6 = 4 · 12 · T · 768.")},
	"For which model is 6ND furthest off at 1,024?":           {Why("The narrower the model, the more the attention over the context matters.")},
	"How much memory does it take before any activation?":     {Why("4 bytes each for the parameter, its gradient and two averages."), Mistake(6.23, "That is the parameters alone.")},
	"By what factor do activations grow at twice the length?": {Why("Everything that is kept is kept per token."), Mistake(4, "That is how scores would grow, and none are kept.")},
	"By what percentage is our formula off?":                  {Why("Each tensor that is kept has its term in the sum.")},
	// 26: inference
	"How many times as many tokens?":                    {Why("64 · 64 + 64 · 63 / 2 = 6112, beside 127.")},
	"How many FLOPs per byte for one token?":            {Why("2 FLOPs for each weight of 2 bytes.")},
	"How long does one token take at least?":            {Why("15 GB over 3.35 TB/s.")},
	"At what batch size is decode bound by arithmetic?": {Why("Each conversation adds a FLOP per byte, and the machine does 295.")},
	"How many conversations fit?":                       {Why("64 GB are left, and each needs a GiB."), Mistake(80, "The weights need room, too.")},
	"How many times the cache do separate heads need?":  {Why("8 heads of keys and values instead of 2.")},
	"How many times as fast with 8 bits?":               {Why("Half of the bytes.")},
	// 19: the training loop
	"What are the shapes of x and y, one after the other?": {Why("x is [4 16]; y has one number for each example, [4].")},
	"What is the loss before training?": {
		Why("About 0² + 1² + … + 15² = 1240, and a little for the model's own outputs."),
		Mistake(120, "That is the sum of the weights. Squares add up."),
	},
	"What is the tenth loss with a rate of 0.1?":        {Why("Look for lr in the function: nobody uses it.")},
	"What is the last weight after training?":           {Mistake(16, "They count from 0.")},
	"What is the rate at step 110?":                     {Why("The cosine of π/2 is 0: half of the peak.")},
	"How many times smaller are the matrices?":          {Why("4·n bytes over n + 4, for rows of 128 and 384."), Mistake(4, "The scales take some room, too.")},
	"In what percentage of the places do 8 bits agree?": {Why("A rounding error of at most half a step, averaged over the terms of each product, hardly moves the logits.")},
	// 27: several machines
	"How many MB go in and out of rank 0?": {
		Why("Three vectors of 4 MB come in, and three sums go out."), Mistake(12, "That is one direction."), Mistake(24e6, "In megabytes."),
	},
	"How many MB does each rank send on the ring?": {
		Why("2 · 3 steps with a quarter of 4 MB each."), Mistake(3, "That is one of the two rounds."), Mistake(24, "That is what all four send together."),
		Mistake(8, "Its own piece need not be sent to itself."),
	},
	"How many times as much does each of 64 send?": {
		Why("2 · 63/64 of the vector instead of 2 · 1/2."), Mistake(32, "The pieces are smaller, too."), Mistake(63, "The pieces are smaller, too."),
	},
	"How far apart are the weights?":     {Why("The mean over the batch is the mean of the means over equal shares; only rounding differs.")},
	"How long does the all-reduce take?": {Why("2 · 7/8 of 16 GB, over 450 GB/s."), Mistake(35.7, "That is the size of the gradients over the speed. They go around twice, less an eighth.")},
	"How many bytes per parameter in stage 2?": {
		Why("4 of weight, 4/4 of gradient, 8/4 of averages."), Mistake(4, "That is stage 3: here each rank still has all weights."), Mistake(10, "That is stage 1."),
		Mistake(16, "That is without ZeRO."),
	},
	"How many times as much as stage 0 does stage 3 send?": {
		Why("Two all-gathers and a reduce-scatter instead of one of each."), Mistake(2, "An all-gather sends half of what an all-reduce does."),
	},
	"How many GPUs does stage 3 need?": {Why("128.5 GB divided by two are 64 GB."), Mistake(1, "16 bytes for each of 8 billion parameters are more than 80 GB.")},
	"How many bytes does each rank send for one layer?": {
		Why("Two all-reduces, each of which sends 2 · 3/4 of 8,192 bytes."), Mistake(12288, "Once forward, and once backward."),
		Mistake(16384, "An all-reduce sends 2 · 3/4 of x."),
	},
	"How many MB does each rank send for one token?": {
		Why("80 blocks · 4 all-reduces · 2 · 7/8 · 8,192 · 2 bytes."), Mistake(4.59, "There are two all-reduces forward and two backward."),
		Mistake(5.24, "That is the activations themselves. An all-reduce sends them 2 · 7/8 times."),
	},
	"What share of the time is the bubble?": {
		Why("Each rank waits for 3 micro-batches and works on 4."), Mistake(75, "That is 3/4. Waiting and working are 7 together."), Mistake(50, "Count the units: 9 of 21."),
	},
	"On how many GPUs was Llama 3 405B trained?": {Why("8 · 16 · 128."), Mistake(152, "Each stage has 8 of them, and each copy 16 stages.")},
	// 28: the capstone
	"Which pair is joined first?": {Why("`The`, `she`, `were`, `take`: very many words end in e.")},
	"What is the loss of a model that knows nothing?": {
		Why("The logarithm of the size of the vocabulary."), Mistake(0, "A loss of 0 would be certainty."), Mistake(5.545, "That is with 256 tokens. Only those that occur have a number here."),
	},
	"Is its loss on held-out text lower or higher than on its own?": {Why("It knows only the pairs that occur in its own text, and some in the other text are new to it.")},
	"How many numbers are there to learn?": {
		Why("V·d of embeddings, C·d·H in the first layer and H·V in the second."),
	},
	"Are they the same to within a millionth?":  {Why("If not, there would be a mistake in the backward pass.")},
	"Is the first loss within a tenth of ln V?": {Why("The logits are small, so the probabilities are nearly equal.")},
	"How many million FLOPs does a step take?": {
		Why("6 · 32 · (64·64 + 64·V)."), Mistake(0.43, "That is forward alone."), Mistake(0.86, "That is backward alone."),
	},
	"What share of the peak do your loops reach?":      {Why("One multiplication at a time, where the processor has instructions for four or eight.")},
	"Is the held-out loss lowest at the end?":          {Why("It turns when the model begins to learn its text by heart.")},
	"With float32 in the file, are the bits the same?": {Why("A float64 has 29 more bits of mantissa, and they are lost.")},
	"How far apart is the run from the float64 file?":  {Why("All bits are in the file, and the step says which batch comes next.")},
}
