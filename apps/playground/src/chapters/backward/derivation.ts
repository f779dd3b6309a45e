import type { Text } from '../../text/text.ts';

/** Steps of the derivation; what is said about each is in the catalogue. */
export type DerivationStepId = keyof Text['backward']['steps'];

/** One step of the backward pass: the rule, and the same in indices, line by line. */
export interface DerivationStep {
  readonly id: DerivationStepId;
  readonly tex: string;
  readonly indices?: readonly string[];
}

/** From dO to the gradients of the weights, in the order in which they can be computed. */
export const derivation: readonly DerivationStep[] = [
  {
    id: 'forward',
    tex: 'S = Q K^\\top, \\qquad P = \\operatorname{softmax}(S), \\qquad O = P V',
  },
  {
    id: 'dV',
    tex: 'dV = P^\\top dO',
    indices: [
      '\\frac{\\partial O_{ij}}{\\partial V_{kl}} = P_{ik}\\, \\delta_{jl}',
      'dV_{kl} = \\sum_{ij} dO_{ij}\\, P_{ik}\\, \\delta_{jl} = \\sum_i P_{ik}\\, dO_{il}',
    ],
  },
  {
    id: 'dP',
    tex: 'dP = dO\\, V^\\top',
    indices: [
      '\\frac{\\partial O_{ij}}{\\partial P_{kl}} = \\delta_{ik}\\, V_{lj}',
      'dP_{kl} = \\sum_{ij} dO_{ij}\\, \\delta_{ik}\\, V_{lj} = \\sum_j dO_{kj}\\, V_{lj}',
    ],
  },
  {
    id: 'softmax',
    tex: 'dS_{ij} = P_{ij} \\Bigl( dP_{ij} - \\sum_l P_{il}\\, dP_{il} \\Bigr)',
    indices: [
      '\\frac{\\partial P_{il}}{\\partial S_{ij}} = P_{il}\\, (\\delta_{lj} - P_{ij})',
      'dS_{ij} = \\sum_l dP_{il}\\, P_{il}\\, (\\delta_{lj} - P_{ij}) = P_{ij}\\, dP_{ij} - P_{ij} \\sum_l P_{il}\\, dP_{il}',
    ],
  },
  {
    id: 'D',
    tex: '\\sum_l P_{il}\\, dP_{il} = \\sum_k dO_{ik}\\, O_{ik} = D_i, \\qquad dS = P \\circ (dP - D)',
    indices: [
      '\\sum_l P_{il}\\, dP_{il} = \\sum_l P_{il} \\sum_k dO_{ik}\\, V_{lk}',
      '= \\sum_k dO_{ik} \\sum_l P_{il}\\, V_{lk} = \\sum_k dO_{ik}\\, O_{ik}',
    ],
  },
  {
    id: 'dQdK',
    tex: 'dQ = dS\\, K, \\qquad dK = dS^\\top Q',
    indices: [
      'dQ_{ik} = \\sum_j dS_{ij}\\, \\frac{\\partial S_{ij}}{\\partial Q_{ik}} = \\sum_j dS_{ij}\\, K_{jk}',
      'dK_{jk} = \\sum_i dS_{ij}\\, \\frac{\\partial S_{ij}}{\\partial K_{jk}} = \\sum_i dS_{ij}\\, Q_{ik}',
    ],
  },
  {
    id: 'dX',
    tex: 'dX = dQ\\, W_Q^\\top + dK\\, W_K^\\top + dV\\, W_V^\\top',
  },
  {
    id: 'dW',
    tex: 'dW_Q = X^\\top dQ, \\qquad dW_K = X^\\top dK, \\qquad dW_V = X^\\top dV',
  },
];
