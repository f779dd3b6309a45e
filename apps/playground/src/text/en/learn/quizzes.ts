/**
 * Questions that are answered before they are explained. `options` are offered in this order; which of them
 * is right is in `exercises/quiz/answers.ts`. `nudge` is said after a wrong answer and gives nothing away.
 */
export const quizzes = {
  words: {
    check: 'Check',
    right: 'Right.',
    wrong: 'Not yet.',
    several: 'Choose all that apply.',
    answer: 'Your answer',
    show: 'Show the answer',
    theAnswer: (answer: string): string => `The answer: ${answer}.`,
    quiz: 'Quiz',
  },
  'square-memory': {
    question: 'A text becomes twice as long. How many times as many scores are there?',
    nudge: 'Every token looks at every token. Count the pairs.',
    why: [
      'Four times: n tokens make n × n scores. Ten times the text means a hundred times the scores. This square is what the rest of this page is about: the scores have to be *computed*, but nobody says that they have to be *stored*.',
    ],
  },
  'square-root': {
    question:
      'Queries and keys have d random components with variance 1. Without the scale 1/√d, what happens to the weights as d grows?',
    options: [
      'They become more and more equal.',
      'One weight takes nearly everything.',
      'Nothing: softmax looks only at the order of the scores.',
    ],
    nudge:
      'A sum of d random products has a typical size of √d. What does softmax do with scores that lie far apart?',
    why: [
      'q·k is a sum of d random terms: its typical size is √d. With scores that far apart, softmax puts nearly all weight on the largest one, and its gradient vanishes. Dividing by √d keeps the scores at size 1 for every d. Move the slider above and see.',
    ],
  },
  'inner-six': {
    question:
      'Let any register feed the multiplier, and take six registers. What is the smallest number of cycles for all four elements as inner products?',
    nudge:
      'No program can do without four stores and eight products. How many loads are left if no number is loaded twice?',
    why: [
      'Twenty. The three new registers hold *operands*: row 0 of A stays while c₀₀ and c₀₁ are made, and by then both columns of B are there for c₁₁ and c₁₀. Every number is loaded once: 8 loads, 8 products, 4 stores. That saves five loads.',
      'As long as only `R0` and `R1` feed the multiplier, three more registers can hold nothing but sums, and an inner product has one sum at a time: the best program still takes 25 cycles. Switch the wiring above and try.',
    ],
  },
  'three-registers': {
    question: 'Why does this machine need at least three registers?',
    options: [
      'Each matrix needs a register of its own.',
      'Loading the next two operands overwrites `R0` and `R1`, so the sum so far needs a third.',
      'A STORE occupies a register until it is done.',
    ],
    nudge: 'Follow `R0`, `R1` and `R2` through the second product of an element.',
    why: [
      'The multiplier’s two operands are replaced for every term, and `MAC` takes its addend from a register, not from DRAM. On newer GPUs (NVIDIA Blackwell) the matrix unit has an accumulator memory of its own, which brings the register file back to two.',
    ],
  },
  'safe-factor': {
    question:
      'The sum so far must be rescaled from the maximum m to m′. Which of these is safe in 32-bit floats?',
    options: ['exp(m) / exp(m′)', 'exp(m − m′)', 'Both: they are equal.', '1 / exp(m′ − m), since m′ ≥ m'],
    nudge:
      'Look at each intermediate result for m = 100, not only at the last one. Some of these are equal on paper, but overflow on the way.',
    why: [
      'm − m′ is never positive, so exp(m − m′) is at most 1. exp(100) alone is beyond 3.4·10³⁸ and the quotient becomes ∞/∞. And 1/exp(m′ − m) overflows as soon as m′ is 89 above m. By the rules of IEEE 754, 1/∞ is then 0 and happens to be right, but a compiler for a GPU may assume that no infinity occurs. The same mathematics, three numerical behaviours.',
    ],
  },
  'running-tricks': {
    question:
      'Problem 6. Which of these keep a running state and *correct what has been accumulated* when a reference point moves?',
    options: [
      'Welford’s variance: the mean moves with each number.',
      'Counting the words of a text.',
      'Kahan summation: a second number carries the rounding error.',
      'A portfolio’s largest loss since its peak: the peak moves.',
      'Block floating point: when the shared exponent grows, all mantissas are shifted.',
    ],
    nudge:
      'Ask of each: is there something global that is known only at the end, and is what has been accumulated corrected when it changes?',
    why: [
      'A count has no reference that moves, and the largest loss keeps its old value when a new peak comes: neither corrects anything that was accumulated. Welford’s algorithm corrects the squares for the moved mean, Kahan summation adds back what rounding lost, and block floating point rescales everything to the new exponent, just as online softmax does with its maximum.',
      'Two relatives: *Cauchy sequences* replace an unknown limit by terms that come close to each other, and *summation by parts* (Abel) makes the accumulated quantity the primary one.',
    ],
  },
  welford: {
    question:
      'The variance in a single pass. We keep n, the mean and $M_2$, the sum of squared distances from the mean. What is added to $M_2$ when x arrives?',
    options: [
      '(x − old mean)²',
      '(x − new mean)²',
      '(x − old mean) · (x − new mean)',
      '(x − old mean)² + (new mean − old mean)²',
    ],
    nudge: 'Try it with the numbers 0 and 2: the mean moves from 0 to 1, and the true sum of squares is 2.',
    why: [
      'One distance from the old mean and one from the new. The derivation subtracts the two sums of squares term by term:',
      'The first factor is the distance of the new number from the old mean, the second is its distance from the new mean. Like the maximum of softmax, the mean depends on all numbers; here, too, the past is corrected instead of being read again. With the numbers of this chapter:',
    ],
  },
  'numerator-rule': {
    question:
      'Problem 7. A key with score $x$ and value vector $v$ arrives, and the maximum goes from m to m′. What becomes of the numerator?',
    options: [
      'num + exp(x − m′) · v',
      'num · exp(m − m′) + exp(x − m′) · v',
      '(num + exp(x − m) · v) · exp(m′ − m)',
      'num · exp(m − m′) + v',
    ],
    nudge: 'Everything in the numerator was weighted against the old maximum. What must it be multiplied by?',
    why: [
      'The factor is one number for all components, so it distributes over the vector; the denominator follows the same rule with 1 in place of v. The state of a query is two numbers and a vector of the head size, instead of a row of n weights.',
    ],
  },
  'one-pass': {
    question: 'Softmax alone took two passes. Why does attention need only one?',
    options: [
      'Its scores are smaller because of 1/√d.',
      'It needs no maximum, since V is bounded.',
      'Its output is only a weighted sum, which the running numerator already holds; no single weight is needed.',
    ],
    nudge: 'What did the second pass of softmax write, and who needs it here?',
    why: [
      'Softmax must output every single weight, and each weight needs the final maximum and the final sum, so x is read again. Attention outputs one average. Each weight is computed, multiplied by its value vector, added and forgotten; one division at the end is all that is left.',
    ],
  },
  'intensity-orders': {
    question:
      'One visit brings a tile of T queries and a tile of T keys together: $4T^2d$ operations. Queries outside load K and V for it, keys outside load Q and O and store O. By what factor is the arithmetic intensity higher with queries outside?',
    nudge: 'Count the tiles of T·d numbers that move in one visit, in each order.',
    why: [
      'By 1.5: two tiles move instead of three. With $b$ bytes for a number:',
      'Output slots in fast memory bring the other order closer: this is the range that the slider shows.',
    ],
  },
  'intensity-flash': {
    question: 'What raises the arithmetic intensity of flash attention (queries outside)?',
    options: [
      'A longer sequence.',
      'More queries in a tile.',
      'A larger head size d.',
      'More keys in a tile, with the same queries.',
    ],
    nudge: 'The intensity is 2T/b. Whose T is it: which tile decides how often a loaded K is used?',
    why: [
      'A loaded key meets every query of the tile: T queries make T uses of each byte, so the intensity is 2T/b, whatever the length and the head size. More keys at a time only move the same bytes in larger portions. Standard attention, which writes S and reads P, stays below d/b, however large its tiles.',
    ],
  },
  ingredient: {
    question:
      'Why can the forward pass do without storing P? The reason is not online softmax, which takes care of the denominator.',
    options: [
      'P is symmetric, so half of it is enough.',
      'P appears only inside a sum over its columns, so each element can be used where it is made.',
      'P has few large elements, so most need not be kept.',
    ],
    nudge: 'Where does P appear in the formula for O, and how often is each element of it used?',
    why: [
      'It is *contraction*: P appears only inside $\\sum_j P_{ij} v_j$. Each element is made, multiplied, added and forgotten. Backward has to find the same pattern for dP and dS, although there is a softmax between them.',
    ],
  },
  'why-gradients': {
    question:
      'No optimizer updates Q, K or V: they are computed from X each time. Why are dQ, dK and dV computed?',
    options: [
      'The gradients of the projection weights and of X are products with them.',
      'The optimizer needs their size to choose the learning rate.',
      'They show which tokens were important.',
    ],
    nudge: 'What does the optimizer update, and what does the chain rule pass through on the way there?',
    why: [
      '$dW_Q = X^\\top dQ$, and $dX$ is a sum of three terms, one for each of dQ, dK and dV: the way to the weights and to the layer below leads through them. Each row of dQ can serve both, a row of $dX$ and a rank-1 update of $dW_Q$, and be forgotten.',
    ],
  },
  'projection-cost': {
    question:
      'How many operations do $dW_Q$, $dW_K$ and $dW_V$ take together, for n tokens and d channels? And dX?',
    options: [
      '$6nd^2$ for the weights, $6nd^2$ for dX',
      '$6n^2d$ for the weights, $6nd^2$ for dX',
      '$2nd^2$ for the weights, $6nd^2$ for dX',
      '$6nd^2$ for the weights, $2n^2d$ for dX',
    ],
    nudge: 'A product of an a × b by a b × c matrix takes 2abc operations. Which shapes meet here?',
    why: [
      'Each weight gradient is $d \\times n$ by $n \\times d$: $2nd^2$, three times. dX takes three products of $n \\times d$ by $d \\times d$: again $6nd^2$. Backward through attention itself takes five products of $2n^2d$ each, which dominate as soon as n is larger than about d.',
    ],
  },
  'walk-score': {
    question:
      'Walk dS and P column by column. How many of dQ, dK and dV are then inner products, which finish a row at each step?',
    nudge: 'Column j of dS is row j of dSᵀ. Which of the three products has dS or P transposed on its left?',
    why: [
      'Two: dK = dSᵀ·Q and dV = Pᵀ·dO finish row j with column j; only dQ is an outer product. Row by row it is one inner and two outer. Softmax is row-wise, but `lse` and D carry what a column needs to know about each row, so both orders work.',
    ],
  },
  'known-d': {
    question: 'D of a row is just a dot product. Why is it computed from dO and O before anything else?',
    options: [
      'P and dP would give it less precisely.',
      'From P and dP it is known only when the whole row has passed, and K and V would have to be loaded twice.',
      'It saves the product dP = dO·Vᵀ.',
    ],
    nudge: 'dS of the first tile needs D. When would it be known?',
    why: [
      'With D in hand, P, dP, dS and all that they add to the gradients are made in one go, while K and V are in fast memory: one load instead of two, twice the useful arithmetic for each byte.',
    ],
  },
};
