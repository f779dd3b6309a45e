/** Formulas of chapters that stand in lines of their own, in TeX. */
export const formulas = {
  attention: String.raw`\operatorname{Attention}(Q, K, V) = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt d}\right) V`,
  intensity: String.raw`I_{\text{inner}} \approx \frac{4 T^2 d}{2\,T d \cdot b} = \frac{2T}{b}, \qquad I_{\text{outer}} \approx \frac{4 T^2 d}{3\,T d \cdot b} = \frac{4T}{3b}`,
  weightedMean: String.raw`o_i = \frac{\sum_j e^{x_j - m} v_j}{\sum_j e^{x_j - m}}, \qquad x_j = \frac{q_i \cdot k_j}{\sqrt{\text{head size}}}`,
  onlineSoftmax: String.raw`\begin{aligned} m_{k+1} &= \max(m_k,\, x_k) \\ \mathrm{num}_{k+1} &= \mathrm{num}_k\, e^{m_k - m_{k+1}} + e^{x_k - m_{k+1}}\, v_k \\ d_{k+1} &= d_k\, e^{m_k - m_{k+1}} + e^{x_k - m_{k+1}} \\ o &= \mathrm{num}_n / d_n \end{aligned}`,
  merge: String.raw`m' = \max(m_1, m_2), \quad d' = d_1 e^{m_1 - m'} + d_2 e^{m_2 - m'}, \quad \mathrm{num}' = \mathrm{num}_1 e^{m_1 - m'} + \mathrm{num}_2 e^{m_2 - m'}`,
  dropout: String.raw`O = \frac{P \circ M}{1 - p}\, V, \qquad M_{ij} \in \{0, 1\}`,
  softmax: String.raw`\operatorname{softmax}(x)_i = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}, \qquad m = \max_j x_j`,
  runningSum: String.raw`m_k = \max(m_{k-1},\, x_k), \qquad s_k = s_{k-1}\, e^{m_{k-1} - m_k} + e^{x_k - m_k}`,
  product: String.raw`C = A \times B, \qquad c_{ij} = \sum_k a_{ik}\, b_{kj}`,
  passes: String.raw`O = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt d}\right) V, \qquad dS = P \circ (dP - \delta), \qquad dQ = \frac{dS\, K}{\sqrt d}, \quad dK = \frac{dS^{\top} Q}{\sqrt d}, \quad dV = P^{\top} dO`,
  scores: String.raw`S_{ij} = \frac{q_i \cdot k_j}{\sqrt d}, \qquad P = \operatorname{softmax}(S), \qquad dS = P \circ (dP - D)`,
  inputGradient: String.raw`dX = dS\,(K W_Q^\top) + dS^\top (Q W_K^\top) + P^\top (dO\, W_V^\top)`,
  probabilities: String.raw`P = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt d}\right), \qquad O = P V`,
  /** From the difference of two sums of squares to the product of two distances. */
  sumsOfSquares: String.raw`\begin{aligned} &\sum_{i=1}^{N} (x_i - \bar x_N)^2 - \sum_{i=1}^{N-1} (x_i - \bar x_{N-1})^2 \\ &= (x_N - \bar x_N)^2 + \sum_{i=1}^{N-1} (2x_i - \bar x_N - \bar x_{N-1})(\bar x_{N-1} - \bar x_N) \\ &= (x_N - \bar x_N)^2 + (\bar x_N - x_N)(\bar x_{N-1} - \bar x_N) \\ &= (x_N - \bar x_N)(x_N - \bar x_{N-1}) \end{aligned}`,
  welford: String.raw`\delta = x - \bar x, \qquad \bar x \leftarrow \bar x + \tfrac{\delta}{n}, \qquad M_2 \leftarrow M_2 + \delta\,(x - \bar x_{\text{new}}), \qquad s^2 = \tfrac{M_2}{n-1}`,
  /** The words stand for the numbers of two states and of the state that they are merged to. */
  mergeOfNumbers: String.raw`\begin{aligned} m' &= \max\!\text{both.m} = \text{merged.m} \\ d' &= \text{a.d} \cdot \text{a.factor} + \text{b.d} \cdot \text{b.factor} = \text{merged.d} \\ \mathrm{num}' &= \text{a.num} \cdot \text{a.factor} \\ &\quad + \text{b.num} \cdot \text{b.factor} \\ &= \text{merged.num} \end{aligned}`,
} as const;
