import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { fillNormal, splitU64 } from '@tilewise/philox';
import { fullPython, printedLosses, runPython, torchrun, writeFiles } from '@tilewise/test-data/python';
import { describe, expect, test } from 'vitest';
import { call } from '../../frontends/functions/operation-call.ts';
import {
  add,
  crossEntropy,
  dropout,
  gather,
  matmul,
  multiply,
  reduceSum,
  rmsNorm,
  rotaryEmbedding,
  silu,
} from '../../frontends/functions/operations.ts';
import { reshape, transpose } from '../../frontends/functions/shaping.ts';
import type { Variable } from '../../frontends/functions/trace.ts';
import { traceGraph } from '../../frontends/functions/traced-graph.ts';
import { gradients } from '../../gradients.ts';
import { toTorch } from './index.ts';

const [B, S, Hq, Hk, D, FF, LAYERS, WORDS, STEPS] = [3, 62, 4, 2, 32, 48, 2, 19, 6];
const dim = Hq * D;
const seedOf = (step: number): bigint => 2n ** 40n + BigInt(step);

type Position = 'rope' | 'alibi';
type Shapes = Readonly<Record<string, readonly number[]>>;

/** The weights of a transformer with SwiGLU and grouped heads. */
function weightShapes(position: Position): Shapes {
  const shapes: Record<string, readonly number[]> = { embed: [WORDS, dim], 'out.norm': [dim] };
  for (let n = 0; n < LAYERS; n++) {
    Object.assign(shapes, {
      ...{ [`layers.${n}.norm1`]: [dim], [`layers.${n}.norm2`]: [dim] },
      ...{
        [`layers.${n}.q`]: [dim, Hq * D],
        [`layers.${n}.k`]: [dim, Hk * D],
        [`layers.${n}.v`]: [dim, Hk * D],
      },
      ...{ [`layers.${n}.o`]: [Hq * D, dim], [`layers.${n}.gate`]: [dim, FF], [`layers.${n}.up`]: [dim, FF] },
      ...{ [`layers.${n}.down`]: [FF, dim], ...(position === 'alibi' && { [`layers.${n}.slopes`]: [Hq] }) },
    });
  }
  return shapes;
}

function lossOf(position: Position, own: Readonly<Record<string, Variable>>): Variable {
  let place = 0;
  const offset = (): Variable => own[`offset${place++}`];
  const angles = Array.from({ length: S * (D / 2) }, (_, n) => {
    return Math.floor(n / (D / 2)) * 10000 ** ((-2 * (n % (D / 2))) / D);
  });
  const [cos, sin] = [Math.cos, Math.sin].map(f => Tensor.from(angles.map(f), [S, D / 2]));
  let x = gather(own.embed, own.tokens);
  for (let n = 0; n < LAYERS; n++) {
    const w = (name: string): Variable => own[`layers.${n}.${name}`];
    const h = rmsNorm(x, w('norm1'));
    const [q, k, v] = ['q', 'k', 'v'].map(name => {
      const heads = reshape(matmul(h, w(name)), [B, S, name === 'q' ? Hq : Hk, D]);
      const moved = transpose(heads, [0, 2, 1, 3]);
      return position === 'rope' && name !== 'v' ? rotaryEmbedding(moved, cos, sin) : moved;
    });
    const operands: Record<string, Variable> = {
      ...{ q, k, v, ...(position === 'alibi' && { alibi: w('slopes') }) },
      ...{ 'dropout.seed': own.seed, 'dropout.offset': offset() },
    };
    const names = { operands: Object.keys(operands).join(' '), results: 'o lse' };
    const [o] = call('Sdpa', Object.values(operands), { ...names, right: 0, p: 0.1 }, 2);
    const rows = matmul(reshape(transpose(o, [0, 2, 1, 3]), [B, S, dim]), w('o'));
    x = add(x, dropout(rows, own.seed, offset(), { p: 0.1 }));
    const h2 = rmsNorm(x, w('norm2'));
    x = add(x, matmul(multiply(silu(matmul(h2, w('gate'))), matmul(h2, w('up'))), w('down')));
  }
  const logits = matmul(rmsNorm(x, own['out.norm']), own.embed, { transposeB: true });
  const rows = crossEntropy(reshape(logits, [B * S, WORDS]), own.labels);
  return reduceSum(multiply(rows, own.counts), { axes: [0] });
}

/** An exported run in a folder, and the reference's loss and gradients of its first step. */
async function exported(position: Position) {
  const shapes = weightShapes(position);
  const spec = (shape: readonly number[], dtype: 'f32' | 'i32' | 'i64' = 'f32') => ({ shape, dtype });
  const offsets = Array.from({ length: 2 * LAYERS }, (_, n) => `offset${n}`);
  const specs = {
    ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, spec(shape)])),
    ...{ tokens: spec([B, S], 'i32'), labels: spec([B * S], 'i32'), counts: spec([B * S]) },
    ...Object.fromEntries(['seed', ...offsets].map(name => [name, spec([], 'i64')])),
  };
  const { graph, inputs, constants, results } = traceGraph(own => lossOf(position, own), specs);
  const weights = new Map(
    Object.entries(shapes).map(([name, shape], n) => {
      const count = shape.reduce((a, m) => a * m, 1);
      const values = fillNormal(new Float32Array(count), { seed: 3, subsequence: BigInt(n) });
      const isNorm = name.includes('norm');
      const scale = isNorm ? 0.1 : name === 'embed' ? 0.3 : 0.08;
      const center = isNorm ? 1 : name.endsWith('slopes') ? 0.3 : 0;
      return [
        name,
        Tensor.from(
          values.map(x => center + scale * x),
          shape,
        ),
      ] as const;
    }),
  );
  const token = (step: number, n: number): number => (((step + 1) * 7919 * (n + 3)) % 1009) % WORDS;
  const list = Array.from({ length: STEPS * B * S }, (_, n) => token(Math.floor(n / (B * S)), n % (B * S)));
  const words = (of: (step: number) => bigint): Tensor => {
    const all = Array.from({ length: STEPS }, (_, step) => [...splitU64(of(step))]);
    return Tensor.from(all.flat(), [STEPS, 2], { dtype: 'u32' });
  };
  const counts = Array.from({ length: STEPS * B * S }, () => 1 / (B * S));
  const batches = new Map([
    [inputs.tokens.id, Tensor.from(list, [STEPS, B, S], { dtype: 'i32' })],
    [
      inputs.labels.id,
      Tensor.from(
        list.map(x => (x * 5 + 2) % WORDS),
        [STEPS, B * S],
        { dtype: 'i32' },
      ),
    ],
    [inputs.counts.id, Tensor.from(counts, [STEPS, B * S])],
    [inputs.seed.id, words(seedOf)],
    ...offsets.map((name, n) => [inputs[name].id, words(step => BigInt(4 * step + n))] as const),
  ]);
  const files = toTorch(graph, {
    ...{ name: 'run', constants, weights, batches, loss: results[0].id, extents: { batch: B, sequence: S } },
    parameters: Object.fromEntries([...weights.keys()].map(name => [name, inputs[name].id])),
    shard: {
      [inputs.tokens.id]: [['batch'], ['sequence']],
      [inputs.labels.id]: [['batch', 'sequence']],
      [inputs.counts.id]: [['batch', 'sequence']],
    },
    training: { steps: STEPS, lr: 1e-3, clip: 0 },
  });
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-training-'));
  writeFiles(folder, { ...files, 'steps.py': script });

  const bindings: Record<number, Tensor | bigint> = Object.fromEntries(constants);
  for (const [name, tensor] of weights) bindings[inputs[name].id] = tensor;
  for (const [id, all] of batches) {
    const { dtype, shape } = all;
    const first = all.toFloat64().slice(0, all.size / STEPS);
    bindings[id] =
      dtype === 'u32'
        ? BigInt(first[0]) + BigInt(first[1]) * 2n ** 32n
        : Tensor.from(first, shape.slice(1), { dtype });
  }
  const engine = referenceEngine();
  const forward = await graph.run(engine, bindings);
  const own = results[0];
  const backward = gradients(graph, {
    of: own,
    withRespectTo: [...weights.keys()].map(name => inputs[name]),
  }).finalize();
  const seed = Tensor.from([1], forward[own.id].shape);
  const all = { ...bindings, ...forward, [backward.seeds.get(own.id)?.id ?? -1]: seed };
  const read = Object.entries(all).filter(([id]) => backward.inputs.some(t => t.id === Number(id)));
  const found = await backward.run(engine, Object.fromEntries(read));
  const byName = [...weights.keys()].map(
    name => [name, found[backward.gradients.get(inputs[name].id)?.id ?? -1]] as const,
  );
  return { folder, loss: forward[own.id].toFloat64()[0], gradients: new Map(byName) };
}

/** Runs `run.train`, which also writes the gradients of the first step, by name, to steps.json. */
const script = `import json, os
from torch.optim.optimizer import register_optimizer_step_pre_hook
from run import model, parallel, train

found = {}

def keep(optimizer, args, kwargs):
    if not found:
        names = [name for name, _ in model.Model().named_parameters()]
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [parallel.full(p.grad).flatten().tolist() for p in parameters]
        found.update(zip(names, grads, strict=True))

register_optimizer_step_pre_hook(keep)
train.main()
if os.environ.get("RANK", "0") == "0":
    with open("steps.json", "w") as file:
        json.dump(found, file)
`;

/** The losses of all steps over ranks, and the gradients of the first step by name. */
async function train(folder: string, ranks: number, ...args: readonly string[]) {
  const printed = await runPython([...torchrun(ranks), 'steps.py', ...args], folder);
  const file = join(folder, 'steps.json');
  const gradients = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, readonly number[]>>;
  rmSync(file);
  return { losses: printedLosses(printed), gradients };
}

const largest = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  expect(a.length).toBe(b.length);
  return Math.max(...Array.from(a, (x, n) => Math.abs(x - b[n])));
};

describe.skipIf(fullPython === undefined).each(['alibi', 'rope'] as const)(
  'a transformer with %s, grouped heads, and dropout, of 3 sequences of 62 positions',
  { timeout: 900_000 },
  position => {
    const made = fullPython === undefined ? null : exported(position);
    const run = async () => (await made) ?? Promise.reject(new Error('no Python'));
    let first: ReturnType<typeof train> | undefined;
    const alone = async (): ReturnType<typeof train> => {
      first ??= train((await run()).folder, 1);
      return first;
    };

    test('has the loss of the reference in one process', async () => {
      const { losses } = await alone();
      expect(losses).toHaveLength(STEPS);
      expect(Math.abs(losses[0] - (await run()).loss)).toBeLessThanOrEqual(1e-5);
    });

    const meshes: Readonly<Record<Position, readonly [ranks: number, args: string][]>> = {
      rope: [
        [1, ''],
        [2, '--mesh 1x2'],
        [8, '--mesh 2x4'],
      ],
      alibi: [
        [1, ''],
        [4, '--mesh 1x4'],
        [4, '--mesh 2x2'],
        [8, '--mesh 2x4'],
        [2, '--mesh 1x2 --order contiguous'],
        [4, '--mesh 2x2 --parallel ddp'],
        [4, '--mesh 2x2 --parallel fsdp'],
      ],
    };
    test.each(meshes[position])(
      '%i ranks (%s) have the losses of one process, and the gradients of the reference',
      async (ranks, args) => {
        const { folder, gradients } = await run();
        const { losses } = await alone();
        const found = ranks === 1 ? await alone() : await train(folder, ranks, ...args.split(' '));
        expect(largest(found.losses, losses)).toBeLessThanOrEqual(1e-5);
        for (const [name, gradient] of gradients) {
          const distance = largest(found.gradients[name] ?? [], gradient.toFloat64());
          expect(distance, name).toBeLessThanOrEqual(1e-5);
        }
      },
    );
  },
);
