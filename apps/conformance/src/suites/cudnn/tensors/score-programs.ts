import { Tensor } from '@tilewise/core';
import {
  and,
  type BoolOperand,
  div,
  eq,
  ge,
  le,
  load,
  lt,
  type Mod,
  mul,
  or,
  type ScoreModVariables,
  scoreMod,
  select,
  softcapMod,
  sub,
  tanh,
} from '@tilewise/core/expr';
import type { Concrete } from '../concrete/concrete.ts';
import { documentIds } from '../format/flags.ts';
import { drawBytes } from './data.ts';

/** The value that replaces a hidden score in cuDNN's samples. */
const dropped = -1e9;

/** The cap of cuDNN's soft-capping sample, for cases that give none. */
const usualCap = 0.8;

/** The score programs of cuDNN's flexible attention, by their descriptions in the cases. */
const programs: readonly {
  readonly matches: RegExp;
  readonly mod: (c: Concrete, numbers: readonly number[]) => Mod<Tensor> | null;
}[] = [
  // Any program would do here, so this one leaves the scores unchanged.
  { matches: /^x$/, mod: () => null },
  { matches: /^keep = row>=col; else -1e9$/, mod: () => keep(({ q, kv }) => ge(q, kv)) },
  { matches: /^softcap$/, mod: ({ flags }) => softcapMod(flags.softcap ?? usualCap) },
  { matches: /^softcap then padding\(select -1e9\)$/, mod: softcapThenPadding },
  {
    matches: /^keep = row<(\d+) \|\| col<(\d+) \|\| \((-?\d+) <= row-col <= (-?\d+)\); else -1e9$/,
    mod: arrow,
  },
  { matches: /^keep = doc\[row\]==doc\[col\]; else -1e9$/, mod: documents },
];

/**
 * The derivatives that cases state beside a program. Our derivative is symbolic; the cases test that it is
 * equal.
 */
const derivativeOf = (program: string): string =>
  program === 'softcap' ? 'softcap backward' : program.replace(/; else -1e9$/, '; else 0');

/**
 * The score mod of a call; null if it has none.
 * @throws Error for an unknown program or derivative.
 */
export function scoreProgram(c: Concrete): Mod<Tensor> | null {
  const { score_mod, score_mod_bprop } = c.flags;
  if (score_mod === undefined) {
    if (score_mod_bprop !== undefined) throw new Error('score_mod_bprop has no score_mod');
    return null;
  }
  if (score_mod_bprop !== undefined && score_mod_bprop !== derivativeOf(score_mod)) {
    throw new Error(`the derivative '${score_mod_bprop}' of '${score_mod}' is not known to the runner`);
  }
  for (const { matches, mod } of programs) {
    const [, ...numbers] = matches.exec(score_mod) ?? [undefined];
    if (matches.test(score_mod)) return mod(c, numbers.map(Number));
  }
  throw new Error(`the score program '${score_mod}' is not known to the runner`);
}

function keep(condition: (variables: ScoreModVariables) => BoolOperand): Mod<Tensor> {
  return scoreMod<Tensor>(variables => select(condition(variables), variables.score, dropped));
}

/** The numbers of the program come from the flags beside it, if there are any. */
function arrow({ flags }: Concrete, numbers: readonly number[]): Mod<Tensor> {
  const { row_bound, col_bound, diag_bound_0, diag_bound_1 } = flags;
  const [rows, columns, least, most] = numbers;
  [row_bound, col_bound, diag_bound_0, diag_bound_1].forEach((bound, n) => {
    if (bound !== undefined && bound !== numbers[n])
      throw new Error(`the flags have a bound of ${bound} where the score program has ${numbers[n]}`);
  });
  return keep(({ q, kv }) =>
    or(lt(q, rows), lt(kv, columns), and(ge(sub(q, kv), least), le(sub(q, kv), most))),
  );
}

function documents(c: Concrete): Mod<Tensor> {
  const positions = Math.max(c.dims.Sq, c.dims.Skv);
  const [, from = 0, to = 16, count = positions] = documentIds.exec(c.flags.doc ?? '')?.map(Number) ?? [];
  if (count < positions) throw new Error(`doc has ${count} numbers for ${positions} positions`);
  const ids = drawBytes(c, 'documents', count)
    .map(byte => from + (byte % (to - from)))
    .sort((a, b) => a - b);
  const at = (s: ScoreModVariables['q']) => load('documents', [s], 'i32');
  return scoreMod<Tensor>(({ score, q, kv }) => select(eq(at(q), at(kv)), score, dropped), {
    documents: Tensor.from(ids, [ids.length], { dtype: 'i32' }),
  });
}

function softcapThenPadding(c: Concrete): Mod<Tensor> {
  const cap = c.flags.softcap ?? usualCap;
  const lengths = c.lengths.kv ?? new Array<number>(c.dims.B).fill(c.dims.Skv);
  return scoreMod<Tensor>(
    ({ score, b, kv }) => {
      const capped = mul(cap, tanh(div(score, cap)));
      return select(lt(kv, load('keyLengths', [b], 'i32')), capped, dropped);
    },
    {
      keyLengths: Tensor.from(lengths, [lengths.length], { dtype: 'i32' }),
    },
  );
}
