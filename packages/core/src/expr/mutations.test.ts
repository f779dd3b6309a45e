import { fuzzRun } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { createRandom, mutate, outcomeOf, type Random } from '../../testing/mutate.ts';
import { sdpa } from '../cpu/sdpa.ts';
import { sdpa as exactSdpa } from '../reference/sdpa.ts';
import { Tensor } from '../tensor/tensor.ts';
import {
  add,
  and,
  constant,
  div,
  ge,
  h,
  kv,
  load,
  lt,
  max,
  mul,
  neg,
  pow,
  q,
  score,
  select,
  sub,
  tanh,
} from './build.ts';
import { flatten, unflatten } from './canonical.ts';
import { checkMod } from './check.ts';
import { differentiate, loadGradients } from './differentiate.ts';
import { compile } from './evaluate/evaluate.ts';
import { createBlockMask } from './mods/create-block-mask.ts';
import { modOf } from './mods/mod.ts';
import { binary, unary } from './nodes/create-node.ts';
import type { Expr, ModExpr } from './nodes/expr.ts';
import { writeWgsl } from './wgsl/wgsl.ts';

const { seed, count, timeout } = fuzzRun(1200);
const tile = Tensor.from(
  Array.from({ length: 8 }, (_, n) => n / 8),
  [1, 1, 4, 2],
);

/** Expressions of scores and masks, and the tensors that they load, made anew for each mutation. */
const originals: readonly (() => { readonly mod: ModExpr<Tensor>; readonly type: 'f32' | 'bool' })[] = [
  () => ({
    mod: {
      expr: add(mul(score, 0.5), select(ge(q, kv), load('table', [h, sub(q, kv)]), tanh(neg(score)))),
      captures: { table: Tensor.zeros([1, 4]) },
    },
    type: 'f32',
  }),
  () => ({ mod: { expr: pow(max(score, div(score, 3)), select(lt(score, -Infinity), 2, 3)) }, type: 'f32' }),
  () => ({
    mod: {
      expr: and(ge(q, kv), lt(load('ids', [kv], 'i32'), 3)),
      captures: { ids: Tensor.zeros([4], { dtype: 'i32' }) },
    },
    type: 'bool',
  }),
];

/** The type of an expression according to the functions that build expressions: an oracle for `checkMod`. */
function builtType(e: Expr): string {
  switch (e.kind) {
    case 'constant':
      return constant(e.type === 'bool' ? e.value === 1 : Number(e.value), e.type).type;
    case 'variable':
      return { score, h, q, kv, b: q }[e.name].type;
    case 'unary':
      builtType(e.a);
      return e.op === 'toF32' && e.a.type === 'f32' ? 'none' : unary(e.op as 'neg', e.a).type;
    case 'binary':
      builtType(e.a);
      builtType(e.b);
      return binary(e.op as 'add', e.a, e.b).type;
    case 'select':
      for (const x of [e.condition, e.whenTrue, e.whenFalse]) builtType(x);
      return select(e.condition, e.whenTrue, e.whenFalse).type;
    case 'load':
      for (const x of e.index) builtType(x);
      return load(e.name, e.index, e.type as 'f32').type;
  }
}

/** A copy whose nodes can be changed; tensors are shared. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Tensor) return value;
  if (Array.isArray(value)) return value.map(copy);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copy(field)]));
}

function mutatedMod(random: Random): { mod: ModExpr<Tensor>; type: 'f32' | 'bool' } {
  const { mod, type } = random.pick(originals)();
  const changed = copy(mod) as ModExpr<Tensor>;
  mutate(random.below(4) === 0 ? changed : changed.expr, random);
  return { mod: changed, type };
}

test(`${count} mutated expressions of seed ${seed} are refused by a typed error or run`, { timeout }, () => {
  const random = createRandom(seed, 1);
  const names = { variables: { score: 's', b: 'b', h: 'h', q: 'q', kv: 'k' }, load: () => '0' };
  const counts = { accepted: 0, refused: 0 };
  for (let n = 0; n < count; n++) {
    const { mod, type } = mutatedMod(random);
    for (const use of [compile, differentiate, flatten, (e: Expr) => loadGradients(e, 'table')]) {
      outcomeOf(() => use(mod.expr));
    }
    outcomeOf(() => writeWgsl(mod.expr, names));
    const outcome = outcomeOf(() => checkMod('mod', mod, type));
    counts[outcome]++;
    if (outcome === 'accepted') expect(builtType(mod.expr)).toBe(type);
    const whole = () => modOf(mod.expr, mod.captures);
    const options = () => ({ [type === 'f32' ? 'scoreMod' : 'maskMod']: whole() });
    for (const engine of [sdpa, exactSdpa]) {
      const ran = outcomeOf(() => engine(tile, tile, tile, options()));
      // A load may still leave its tensor.
      if (ran === 'accepted') expect(outcome).toBe('accepted');
    }
    if (type === 'bool') outcomeOf(() => createBlockMask(whole(), { Sq: 4, Skv: 4, blockSize: 2 }));
  }
  expect(counts.refused).toBeGreaterThan(count / 2);
  expect(counts.accepted).toBeGreaterThan(count / 60);
});

test(`${count / 4} mutated flat lists of seed ${seed} are refused by a typed error or are expressions`, {
  timeout,
}, () => {
  const random = createRandom(seed, 2);
  for (let n = 0; n < count / 4; n++) {
    const list = copy(flatten(random.pick(originals)().mod.expr)) as never[];
    mutate(list, random);
    if (outcomeOf(() => unflatten(list)) === 'accepted')
      compile(unflatten(list), () => () => 0)(1, 0, 0, 0, 0);
  }
});
