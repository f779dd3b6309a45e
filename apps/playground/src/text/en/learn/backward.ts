export const backward = {
  intro: [
    'The forward pass threw P away. The backward pass needs P again, and two more matrices of the same size: dP and dS. The backward pass stores none of these matrices either. One number per row, $\\mathrm{lse} = m + \\ln \\ell$ with the maximum $m$ and the denominator $\\ell$ of the row, brings back every weight when it is needed: $P_{ij} = e^{S_{ij} - \\mathrm{lse}_i}$. (Chapter 3 called the denominator $d$; from here on, $d$ is the number of channels.)',
    'Computing something again instead of keeping it is called *recomputation*, or activation checkpointing. Here it is cheap, because the maxima and denominators are already known.',
  ],
  derivation: 'The derivation',
  inIndices: 'In indices',
  stepBack: 'One step back',
  nextStep: 'Next step',
  steps: {
    forward: {
      title: 'The forward pass, to be undone from its end',
      why: 'The gradient of the loss with respect to O, called dO, is given. Each step goes through one of these equations backwards. All d… are gradients of the loss: dX has the shape of X.',
    },
    indices: {
      title: 'The language: indices',
      why: 'When an index appears both above and below, we sum over it, as einsum does. The derivative of a matrix by itself is 1 where row and column agree and 0 elsewhere: two Kronecker deltas. An index in a denominator changes sides: an upper index counts as a lower one there, and the other way round.',
    },
    product: {
      title: 'The derivative of a product',
      why: 'Row $i$ of C depends on row $i$ of A alone, which is what the delta says. Written out, the derivative of an $m \\times n$ matrix by a $p \\times q$ matrix has four indices and $m \\cdot n \\cdot p \\cdot q$ numbers.',
    },
    chain: {
      title: 'The chain rule: four indices collapse to two',
      why: 'The array with four indices is never built. It is contracted at once with the incoming gradient, which leaves a matrix: this is a vector–Jacobian product. It is the same trick as with P. A product hands its gradient to each factor, times the transpose of the other factor.',
    },
    dV: {
      title: 'Through O = P V, to V',
      why: 'The derivative of a product again, for its second factor.',
    },
    dP: {
      title: 'Through O = P V, to P',
      why: 'Row $i$ of dP is row $i$ of dO times Vᵀ: the rows are independent of each other.',
    },
    softmax: {
      title: 'Through the softmax',
      why: 'Raising one score lowers all other weights of its row, since they sum to one: hence the sum over the row.',
    },
    D: {
      title: 'The sum is already known',
      why: 'Exchange the sums: the row of P times V is the row of O. So D needs neither P nor dP, only dO and O.',
    },
    dQdK: {
      title: 'Through S = Q Kᵀ',
      why: 'Again a product. If the scores are scaled, both gradients are multiplied by the scale.',
    },
    columns: {
      title: 'Any element, at any time',
      why: 'Softmax works on rows. But a column needs to know only two numbers of row $i$, lse and D, and both are stored. So P and dS can be computed column by column as well.',
    },
    rankOne: {
      title: 'Rank-1 updates',
      why: 'If you walk row by row, each row of dS finishes a row of dQ. dK and dV get a rank-1 update: every one of their rows changes a little. A finished row of dQ can go into dX and the weight gradient at once, and be forgotten.',
    },
    dX: {
      title: 'Through the projections, to X',
      why: 'Q, K and V are all made from the same X, so the gradient of X is a sum of three terms. An attention kernel stops before this step and leaves it to ordinary products.',
    },
    dW: {
      title: 'Through the projections, to the weights',
      why: 'These are the gradients that the optimizer needs. Nothing here is as large as P.',
    },
  },
  numbers: 'All of it in numbers',
  numbersWhy:
    'Four words with two channels each. Point at an element, or walk with the arrow keys. You see the terms of its sum, and the numbers that it is made of are outlined. A click or Enter chooses the element.',
  given: 'This one is given, not computed.',
  check: 'Is the gradient right?',
  checkWhy:
    'Click an element of Q, K or V, or of its gradient, in the matrices above. Move the number, and everything follows. The gradient says how fast the loss changes. So does the difference quotient, which knows nothing of the formulas above. The smaller the step h, the better the two agree, until the rounding of the two losses takes over, below about $10^{-5}$. V is different: the loss is linear in V, so any step gives the gradient, and small steps only add rounding errors.',
  move: (name: string): string => `Move ${name} by`,
  stepSize: 'Step h',
  apart: (difference: string): string => `The quotient and the formula differ by ${difference}.`,
  twoD: 'D, both ways',
  readsFor: (n: number): string => `Numbers read for all ${n} rows`,
  readsFormula: 'With n rows, in tiles of T',
  readsNote:
    'The sum over dO and O reads two short rows for each query. The sum over P and dP needs K and V once more for every tile of T queries; here T = 1. With 4,096 rows and tiles of 64 that is 64 times as much.',
  byRowsOrColumns: 'By rows or by columns',
  walkWhy:
    'Softmax works on rows, so dS seems to need rows, too. But once lse and D of each row are known, any element can be computed at any time.',
  walk: 'Walk',
  walks: { rows: 'Row by row', columns: 'Column by column' },
  walkFigure: (at: number, n: number, walk: 'rows' | 'columns'): string =>
    `${at} of ${n} ${walk} of dS ${at === 1 ? 'has' : 'have'} been computed`,
  styles: { inner: 'inner product', outer: 'outer product' },
  walkNotes: {
    rows: 'One inner product, two outer ones. Each row of dS finishes one row of dQ; dK and dV change everywhere at every step, so all of them must be kept and added to.',
    columns:
      'Two inner products, one outer one: the better balance. Each column finishes one row of dK and one of dV; only dQ is left unfinished until the end.',
  },
  termsNote:
    'Inside a gradient, 3/8 means that three of the eight terms of each sum have been added, and ✓ that the sum is complete.',
  worth: 'What knowing D first is worth',
  worthWhy:
    'dS needs the D of its row. If D comes from P and dP, it is known only after the whole row, and K and V must be loaded a second time. If D comes from dO and O beforehand, loading once is enough. That is twice the useful arithmetic per byte: what is computed a second time does not count.',
  whenD: 'D',
  knownD: 'D = rowsum(dO ∘ O), beforehand',
  lateD: 'D = rowsum(P ∘ dP), along the way',
  blocks: 'Blocks (n)',
  loadsFigure: (done: number, all: number): string =>
    `${done} of ${all} loads of blocks of K and V ${done === 1 ? 'has' : 'have'} been made; each block shows how often`,
  kLoads: 'Loads of K blocks',
  vLoads: 'Loads of V blocks',
  productsPerLoad: 'Products per load, without repeats',
  purposes: {
    rows: 'This load only adds a part of D; the block will be needed again.',
    gradients: 'This load gives everything: P, dP, dS and what they add to dQ, dK and dV.',
  },
  notBegun: 'Nothing has been loaded.',
  blockSteps: {
    known: [
      'Load a block of K and V.',
      'P again, from Q, K and lse.',
      'dP from dO and V.',
      'dS from P, dP and D: no waiting.',
      'Add to dQ; K is still there.',
      'Add to dK and dV.',
      'Forget the block.',
    ],
    late: [
      'For the whole row: load K and V, make P and dP, add to D, forget them.',
      'Then again: load K and V, make P and dP a second time.',
      'dS, now that D is complete.',
      'Add to dQ, dK and dV.',
      'Forget the block.',
    ],
  },
  kernelsTitle: 'What the library runs',
  kernelsWhy:
    'Both walks leave something unfinished, and several workgroups would have to add their parts to the same memory. The library walks twice instead, each time in the direction that finishes what it computes. It needs no atomics, and every run gives the same bits.',
  mask: 'Mask',
  noMask: 'No mask',
  causal: 'Causal',
  kernels: {
    dkdv: {
      title: 'First dK and dV: a workgroup for each tile of keys',
      about:
        'Every column is a workgroup. It walks down the query tiles that see its keys and finishes its rows of dK and dV.',
    },
    dq: {
      title: 'Then dQ: a workgroup for each tile of queries',
      about:
        'Every row is a workgroup. It walks along the key tiles that it sees and finishes its rows of dQ.',
    },
  },
  kernelFigure: (at: number, n: number): string => `Every workgroup has visited ${at} of at most ${n} tiles`,
  kernelTable: 'Kernels of backward',
  kernelColumns: ['Kernel', 'A workgroup has', 'It walks over', 'and finishes'],
  kernelRows: [
    ['delta', 'a few queries', 'their channels', 'D (minus the gradient of lse) and lse, side by side'],
    ['dK, dV', 'a tile of keys', 'the query tiles that see it', 'dK = dSᵀ·Q and dV = Pᵀ·dO'],
    ['dQ', 'a tile of queries', 'the key tiles that it sees', 'dQ = dS·K'],
  ],
  sevenProducts:
    'Both kernels compute S and dP. That makes seven matrix products, where five would be enough. In return, nothing that grows with the square of the sequence is stored.',
  further: 'Could dQ, dK and dV go the same way as P?',
  furtherAnswer: [
    'They, too, are consumed in contractions. Fold the projection weights into the right-hand factors, which are only n × d, and you can sum up dX while dS streams by:',
    'But the weight gradients need dQ, dK and dV as well, and frameworks have linear layers of their own for that. Flash attention stops here.',
  ],
};
