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
  type ScoredPlace,
  scoreMod,
  select,
  softcapMod,
  sub,
  tanh,
} from '@tilewise/core/expr';
import type { Concrete } from './concrete.ts';
import { drawBytes } from './data.ts';

/** What cuDNN's samples put in place of a score that is not kept. */
const dropped = -1e9;

/** The cap of cuDNN's soft-capping sample, where a case names none. */
const usualCap = 0.8;

/** The score programs of cuDNN's flexible attention, by the words of their cases. */
const programs: readonly { readonly matches: RegExp; readonly mod: (c: Concrete) => Mod<Tensor> | null }[] = [
  // It stands for any program: the one that leaves scores as they are.
  { matches: /^x$/, mod: () => null },
  { matches: /^keep = row>=col; else -1e9$/, mod: () => keep(({ q, kv }) => ge(q, kv)) },
  { matches: /^softcap$/, mod: ({ flags }) => softcapMod(flags.softcap ?? usualCap) },
  { matches: /^softcap then padding\(select -1e9\)$/, mod: softcapThenPadding },
  { matches: /^keep = row<2 \|\| col<2 \|\| \(1 <= row-col <= 1\); else -1e9$/, mod: arrow },
  { matches: /^keep = doc\[row\]==doc\[col\]; else -1e9$/, mod: documents },
];

/** The derivatives that cases state beside a program. Ours is taken symbolically; that it is the same is what they test. */
const derivatives: Readonly<Record<string, string>> = {
  'keep = row>=col; else 0': 'keep = row>=col; else -1e9',
  'softcap backward': 'softcap',
};

/**
 * The score mod of a call; null without one.
 * @throws Error for a program, or a derivative, that is not known.
 */
export function scoreProgram(c: Concrete): Mod<Tensor> | null {
  const { score_mod, score_mod_bprop } = c.flags;
  if (score_mod === undefined) {
    if (score_mod_bprop !== undefined) throw new Error('score_mod_bprop has no score_mod');
    return null;
  }
  if (score_mod_bprop !== undefined && derivatives[score_mod_bprop] !== score_mod) {
    throw new Error(`the derivative '${score_mod_bprop}' of '${score_mod}' is not known to the runner`);
  }
  const program = programs.find(({ matches }) => matches.test(score_mod));
  if (!program) throw new Error(`the score program '${score_mod}' is not known to the runner`);
  return program.mod(c);
}

function keep(condition: (place: ScoredPlace) => BoolOperand): Mod<Tensor> {
  return scoreMod<Tensor>(place => select(condition(place), place.score, dropped));
}

function arrow({ flags }: Concrete): Mod<Tensor> {
  const { row_bound = 2, col_bound = 2, diag_bound_0 = 1, diag_bound_1 = 1 } = flags;
  return keep(({ q, kv }) =>
    or(lt(q, row_bound), lt(kv, col_bound), and(ge(sub(q, kv), diag_bound_0), le(sub(q, kv), diag_bound_1))),
  );
}

function documents(c: Concrete): Mod<Tensor> {
  const ids = drawBytes(c, 'documents', Math.max(c.dims.Sq, c.dims.Skv))
    .map(byte => byte % 16)
    .sort((a, b) => a - b);
  const at = (s: ScoredPlace['q']) => load('documents', [s], 'i32');
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
