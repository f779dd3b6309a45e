/** What a batch of predictions is worth. */
export interface Score {
  /** Mean of −ln p(answer). */
  readonly loss: number;
  /** Share of questions of which the likeliest token is the answer. */
  readonly accuracy: number;
  /** ∂loss/∂logits, (questions, vocabulary). */
  readonly dLogits: Float32Array;
}

/** Cross-entropy of softmax(logits) against the answers; logits are (questions, vocabulary). */
export function crossEntropy(logits: Float32Array, answers: Int32Array): Score {
  const count = answers.length;
  const width = logits.length / count;
  const dLogits = new Float32Array(logits.length);
  let loss = 0;
  let right = 0;
  for (let n = 0; n < count; n++) {
    const row = logits.subarray(n * width, (n + 1) * width);
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const sum = row.reduce((total, x) => total + Math.exp(x - most), 0);
    const answer = answers[n];
    loss += most + Math.log(sum) - row[answer];
    if (row[answer] === most) right++;
    for (let t = 0; t < width; t++) {
      dLogits[n * width + t] = (Math.exp(row[t] - most) / sum - (t === answer ? 1 : 0)) / count;
    }
  }
  return { loss: loss / count, accuracy: right / count, dLogits };
}
