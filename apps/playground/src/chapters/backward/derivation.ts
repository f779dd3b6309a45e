/** One step of the backward pass: what is known before, the rule, and why it holds. */
export interface DerivationStep {
  readonly title: string;
  readonly tex: string;
  readonly why: string;
}

/** From dO to the gradients of the weights, in the order in which they can be computed. */
export const derivation: readonly DerivationStep[] = [
  {
    title: 'Forward, to be undone from the end',
    tex: 'S = Q K^\\top, \\qquad P = \\operatorname{softmax}(S), \\qquad O = P V',
    why: 'The gradient of the loss by O, dO, is given. Each step goes through one of these equations backwards.',
  },
  {
    title: 'Through O = P V',
    tex: 'dV = P^\\top dO, \\qquad dP = dO\\, V^\\top',
    why: 'A matrix product hands its gradient to each factor, multiplied by the other factor, transposed.',
  },
  {
    title: 'Through the softmax',
    tex: 'dS_{ij} = P_{ij} \\Bigl( dP_{ij} - \\sum_l P_{il}\\, dP_{il} \\Bigr)',
    why: 'Raising one score lowers all other weights of its row, since they sum to one: hence the sum over the row.',
  },
  {
    title: 'The sum is already known',
    tex: '\\sum_l P_{il}\\, dP_{il} = \\sum_l P_{il} \\sum_k dO_{ik} V_{lk} = \\sum_k dO_{ik} O_{ik} = D_i',
    why: 'Exchange the sums: the row of P times V is the row of O. So D needs neither P nor dP, only dO and O.',
  },
  {
    title: 'Through S = Q Kᵀ',
    tex: 'dQ = dS\\, K, \\qquad dK = dS^\\top Q',
    why: 'Again a product. With a scale on the scores, both are multiplied by it.',
  },
  {
    title: 'Through the projections',
    tex: 'dX = dQ\\, W_Q^\\top + dK\\, W_K^\\top + dV\\, W_V^\\top, \\qquad dW_Q = X^\\top dQ, \\;\\; dW_K = X^\\top dK, \\;\\; dW_V = X^\\top dV',
    why: 'Nothing here is as large as P: an attention kernel stops at dQ, dK and dV and leaves this to ordinary products.',
  },
];
