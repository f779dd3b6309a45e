import { InvalidArgumentError, Tensor, type TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { Dataset } from '../data/dataset.ts';
import { GraphWriter } from '../model/graph-writer.ts';
import { type Loss, writeLoss } from '../model/loss.ts';
import type { ModelShape } from '../model/model-shape.ts';
import { type Pass, type PassOptions, writeTransformer } from '../model/transformer.ts';
import type { ParameterState } from '../optimizer/adamw.ts';
import { randomStream } from '../random-streams.ts';
import { type ResidentGraph, residentGraph } from '../running/resident-graph.ts';
import { checkSampling, chooseToken, type SamplingOptions } from './choose-token.ts';

/** How a text is continued. */
export interface GenerateOptions extends SamplingOptions {
  /** Tokens to add. */
  readonly count: number;
  readonly seed?: number | bigint;
}

/** Asks a model. Nothing is dropped. */
export interface Predictor {
  /** Loss and accuracy on sequences that it is not trained on, the same ones each time. */
  evaluate(batches?: number): Promise<{ readonly loss: number; readonly accuracy: number }>;
  /**
   * What each token of a sequence attends to: for each layer (heads, S, S), rows being distributions over the
   * tokens up to their own. A flash kernel never has these; they are computed by the operations one after the
   * other.
   * @throws InvalidArgumentError for no tokens, or more than the context.
   */
  attentionMaps(tokens: ArrayLike<number>): Promise<Tensor[]>;
  /**
   * Continues a text, a character at a time. The last tokens are read, as many as the context holds.
   * @throws InvalidArgumentError for an empty prompt, characters that the model has never seen, and wrong
   * options.
   */
  generate(prompt: string, options: GenerateOptions): AsyncGenerator<string, void, void>;
  release(): void;
}

/** What a predictor reads: tensors on the engine, in the order of `parameterSpecs`. */
export interface PredictorSource<T> {
  readonly seed: number | bigint;
  readonly batch: number;
  parameters(): readonly ParameterState<T>[];
}

/** Readies a model for questions; each graph is compiled when it is first needed. */
export function createPredictor<T extends TensorDesc>(
  engine: TensorEngine<T>,
  shape: ModelShape,
  { draw, vocabulary }: Dataset,
  { seed, batch, parameters }: PredictorSource<T>,
): Predictor {
  const graphs: ResidentGraph<T>[] = [];

  /**
   * A pass and what is written behind it, with a function that runs it on lists of numbers and downloads
   * results.
   */
  function ready<R>(
    options: Omit<PassOptions, 'dropout' | 'keep'>,
    write: (g: GraphWriter, pass: Pass) => R,
  ) {
    const g = new GraphWriter();
    const pass = writeTransformer(g, shape, { ...options, dropout: 0, keep: false });
    const rest = write(g, pass);
    const running = residentGraph(engine, g.graph, g.constants);
    graphs.push(running);
    const logical = [...pass.parameters.values()];
    async function run(
      lists: Readonly<Record<number, Int32Array | Float32Array>>,
      results: readonly { readonly id: number }[],
    ): Promise<Tensor[]> {
      const inputs = Object.entries(lists).map(
        ([id, values]) => [id, engine.upload(listTensor(values))] as const,
      );
      const now = parameters();
      await running.run({
        ...Object.fromEntries(inputs),
        ...Object.fromEntries(logical.map(({ id }, n) => [id, now[n].value])),
      });
      for (const [, tensor] of inputs) engine.release(tensor);
      return Promise.all(results.map(({ id }) => engine.download(running.results[id])));
    }
    return { pass, rest, run };
  }

  const evaluation = once(() =>
    ready({ batch }, (g, { logits }): Loss => writeLoss(g, logits, batch * shape.context)),
  );
  const maps = once(() =>
    ready({ batch: 1 }, (g, { probabilities }) => {
      for (const p of probabilities) g.result(p);
    }),
  );
  const next = once(() => ready({ batch: 1, oneRow: true }, () => {}));

  /** The last tokens that the context holds, and zeros behind them, which no token before them sees. */
  function window(tokens: ArrayLike<number>): { readonly padded: Int32Array; readonly length: number } {
    const last = Array.from(tokens).slice(-shape.context);
    const padded = new Int32Array(shape.context);
    padded.set(last);
    return { padded, length: last.length };
  }

  return {
    async evaluate(batches = 4) {
      const { pass, rest: loss, run } = evaluation();
      const total = { loss: 0, accuracy: 0 };
      for (let n = 0; n < batches; n++) {
        const drawn = draw(randomStream(seed, 'evaluation', n), batch, shape.context, 'held out');
        const [score] = await run(
          {
            [pass.tokens.id]: drawn.tokens,
            [loss.labels.id]: drawn.labels,
            [loss.weights.id]: drawn.weights,
          },
          [loss.score],
        );
        const [lossNow, accuracy] = score.toFloat32();
        total.loss += lossNow / batches;
        total.accuracy += accuracy / batches;
      }
      return total;
    },
    async attentionMaps(tokens) {
      if (tokens.length === 0 || tokens.length > shape.context) {
        throw new InvalidArgumentError('tokens', `must be 1 to ${shape.context}, got ${tokens.length}`);
      }
      const { pass, run } = maps();
      const { padded, length } = window(tokens);
      const layers = await run({ [pass.tokens.id]: padded }, pass.probabilities);
      return layers.map(p =>
        p
          .reshape([shape.heads, shape.context, shape.context])
          .slice(1, 0, length)
          .slice(2, 0, length)
          .contiguous(),
      );
    },
    async *generate(prompt, { count, seed: own = seed, ...sampling }) {
      checkSampling(sampling);
      const tokens = [...vocabulary.encode(prompt)];
      if (tokens.length === 0) throw new InvalidArgumentError('prompt', 'is empty');
      const random = randomStream(own, 'sample');
      const { pass, run } = next();
      for (let n = 0; n < count; n++) {
        const { padded, length } = window(tokens);
        const row = pass.row?.id ?? -1;
        const [logits] = await run({ [pass.tokens.id]: padded, [row]: Int32Array.of(length - 1) }, [
          pass.logits,
        ]);
        const token = chooseToken(logits.toFloat32(), sampling, random.nextUniform());
        tokens.push(token);
        yield vocabulary.decode([token]);
      }
    },
    release() {
      for (const graph of graphs) graph.release();
    },
  };
}

function listTensor(values: Int32Array | Float32Array): Tensor {
  return Tensor.wrap(values, { dtype: values instanceof Int32Array ? 'i32' : 'f32', shape: [values.length] });
}

function once<V>(make: () => V): () => V {
  let made: V | undefined;
  return () => (made ??= make());
}
