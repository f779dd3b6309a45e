import type { ChapterTexts } from '../../text/text.ts';

/** The steps of the derivation; their explanations are in the catalogue. */
export type DerivationStepId = keyof ChapterTexts['backward']['steps'];

/** One step of the backward pass: the rule, and the same in indices, line by line. */
export interface DerivationStep {
  readonly id: DerivationStepId;
  readonly tex: string;
  readonly indices?: readonly string[];
}

/**
 * From the rules of matrix derivatives to the gradients of the weights, in the order in which they are used.
 */
export const derivation: readonly DerivationStep[] = [
  {
    id: 'forward',
    tex: 'S = Q K^\\top, \\qquad P = \\operatorname{softmax}(S), \\qquad O = P V',
    indices: [
      '\\begin{array}{lll} Q, K, V, O & n \\times d & \\\\ S, P & n \\times n & \\\\ dO = \\frac{\\partial L}{\\partial O} & n \\times d & \\text{given} \\\\ dQ, dK, dV & n \\times d & \\text{wanted} \\\\ dP, dS & n \\times n & \\text{never stored} \\\\ D & n & \\end{array}',
    ],
  },
  {
    id: 'indices',
    tex: 'C^i{}_j = A^i{}_k\\, B^k{}_j, \\qquad \\frac{\\partial A^i{}_s}{\\partial A^k{}_l} = \\delta^i_k\\, \\delta^l_s',
    indices: [
      'c_{ij} = \\sum_k a_{ik}\\, b_{kj}',
      '\\frac{\\partial L}{\\partial O^i{}_j}\\, \\delta^l_j = \\frac{\\partial L}{\\partial O^i{}_l}',
    ],
  },
  {
    id: 'product',
    tex: '\\frac{\\partial C^i{}_j}{\\partial A^k{}_l} = \\delta^i_k\\, B^l{}_j, \\qquad \\frac{\\partial C^i{}_j}{\\partial B^k{}_l} = A^i{}_k\\, \\delta^l_j',
    indices: [
      '\\frac{\\partial C^i{}_j}{\\partial A^k{}_l} = \\frac{\\partial A^i{}_s}{\\partial A^k{}_l}\\, B^s{}_j = \\delta^i_k\\, \\delta^l_s\\, B^s{}_j = \\delta^i_k\\, B^l{}_j',
    ],
  },
  {
    id: 'chain',
    tex: 'dA = dC\\, B^\\top, \\qquad dB = A^\\top dC',
    indices: [
      '\\frac{\\partial D^\\alpha{}_\\beta}{\\partial A^k{}_l} = \\frac{\\partial D^\\alpha{}_\\beta}{\\partial C^i{}_j} \\cdot \\frac{\\partial C^i{}_j}{\\partial A^k{}_l} = \\frac{\\partial D^\\alpha{}_\\beta}{\\partial C^k{}_j}\\, B^l{}_j',
      'dA^k{}_l = \\frac{\\partial L}{\\partial C^i{}_j}\\, \\frac{\\partial C^i{}_j}{\\partial A^k{}_l} = \\frac{\\partial L}{\\partial C^k{}_j}\\, B^l{}_j = (dC\\, B^\\top)^k{}_l',
      'dB^k{}_l = \\frac{\\partial L}{\\partial C^i{}_j}\\, A^i{}_k\\, \\delta^l_j = (A^\\top dC)^k{}_l',
    ],
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
      'dP_{0l} = \\sum_\\beta dO_{0\\beta}\\, V^\\top_{\\beta l}',
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
    id: 'columns',
    tex: 'P_{ij} = \\frac{e^{S_{ij} - m_i}}{\\ell_i} = e^{S_{ij} - \\mathrm{lse}_i}, \\qquad dS_{ij} = P_{ij}\\, (dP_{ij} - D_i)',
    indices: [
      'S_{:j} = Q\\, k_j, \\qquad dP_{:j} = dO\\, v_j',
      'dK_j = \\sum_i dS_{ij}\\, q_i, \\qquad dV_j = \\sum_i P_{ij}\\, dO_i',
    ],
  },
  {
    id: 'rankOne',
    tex: 'dK \\mathrel{+}= (dS_{i:})^\\top q_i, \\qquad dV \\mathrel{+}= (P_{i:})^\\top dO_i, \\qquad dW_Q \\mathrel{+}= x_i^\\top\\, dQ_i',
    indices: [
      'dK_{jc} \\mathrel{+}= dS_{ij}\\, Q_{ic} \\quad \\text{for all}\\; j, c',
      'dX_i \\mathrel{+}= dQ_i\\, W_Q^\\top, \\qquad (dW_Q)_{ab} \\mathrel{+}= X_{ia}\\, dQ_{ib}',
    ],
  },
  {
    id: 'dX',
    tex: 'dX = dQ\\, W_Q^\\top + dK\\, W_K^\\top + dV\\, W_V^\\top',
    indices: [
      'Q = X W_Q, \\qquad K = X W_K, \\qquad V = X W_V',
      'dX = (dS\\, K)\\, W_Q^\\top + (dS^\\top Q)\\, W_K^\\top + (P^\\top dO)\\, W_V^\\top',
      '= dS\\, (K W_Q^\\top) + dS^\\top (Q W_K^\\top) + P^\\top (dO\\, W_V^\\top)',
    ],
  },
  {
    id: 'dW',
    tex: 'dW_Q = X^\\top dQ, \\qquad dW_K = X^\\top dK, \\qquad dW_V = X^\\top dV',
    indices: [
      'dW_Q = X^\\top (dS\\, K), \\qquad dW_K = X^\\top (dS^\\top Q), \\qquad dW_V = X^\\top (P^\\top dO)',
    ],
  },
];

/** The equations of a step, one below the other. */
export const stacked = (tex: string): string =>
  `\\begin{aligned} ${tex
    .split(/,\s*\\qquad/)
    .map(equation => `& ${equation}`)
    .join(' \\\\ ')} \\end{aligned}`;
