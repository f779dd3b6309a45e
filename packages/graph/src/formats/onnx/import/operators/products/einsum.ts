import { elementCount } from '@tilewise/core';
import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import { type NodeCall, type OnnxOperator, result } from '../../node-call.ts';

/** An operand, with a letter for each of its dimensions. */
interface Term {
  readonly tensor: () => LogicalTensor;
  readonly letters: readonly string[];
}

/**
 * The letters of each operand and of the result. `...` stands for all dimensions without a letter; they are
 * aligned at the last one and get generated names.
 */
function parse(call: NodeCall, equation: string): { terms: string[][]; result: string[] } {
  const [left = '', right] = equation.replace(/\s/g, '').split('->');
  const texts = left.split(',');
  if (texts.length !== call.inputs.length) call.fail(`has ${call.inputs.length} inputs for '${equation}'`);
  let most = 0;
  const lettersOf = (text: string, rest: number): string[] => {
    const [before = '', after] = text.split('...');
    if (after === undefined) return [...before];
    most = Math.max(most, rest);
    return [...before, ...Array.from({ length: rest }, (_, d) => `.${rest - d}`), ...after];
  };
  const terms = texts.map((text, n) => {
    const { length } = call.shape(n);
    const letters = lettersOf(text, length - text.replace('...', '').length);
    if (letters.length !== length) call.fail(`has ${length} dimensions for '${text}' of '${equation}'`);
    return letters;
  });
  if (right !== undefined) return { terms, result: lettersOf(right, most) };
  const all = terms.flat();
  const open = Array.from({ length: most }, (_, d) => `.${most - d}`);
  const once = [...new Set(all)].filter(
    letter => !letter.startsWith('.') && all.filter(own => own === letter).length === 1,
  );
  return { terms, result: [...open, ...once.sort()] };
}

/** Einstein summation; each pair of operands becomes a batched matrix product. */
export const einsum: OnnxOperator = call => {
  const { terms, result: wanted } = parse(call, call.text('equation', ''));
  const extents = new Map<string, number>();
  for (const [n, letters] of terms.entries()) {
    for (const [d, letter] of letters.entries()) {
      const extent = call.shape(n)[d];
      const known = extents.get(letter) ?? 1;
      if (known !== 1 && extent !== 1 && known !== extent)
        call.fail(`has ${known} and ${extent} elements along '${letter}'`);
      extents.set(letter, known === 1 ? extent : known);
    }
    if (new Set(letters).size !== letters.length) call.refuse('takes a diagonal, which is not supported');
  }
  const unknown = wanted.find(letter => !extents.has(letter));
  if (unknown) call.fail(`has '${unknown}' in its result, but in no input`);
  return result({ type: call.input(0).type, shape: extentsOf(wanted, extents) }, () => {
    const own: Term[] = terms.map((letters, n) => ({ tensor: call.input(n).tensor, letters }));
    const [first, ...others] = own;
    if (!first) return call.fail('needs an input');
    const joined = others.reduce<Term>((a, b, n) => {
      const later = new Set([...wanted, ...others.slice(n + 1).flatMap(({ letters }) => letters)]);
      return product(call, a, b, later, extents);
    }, first);
    return ordered(call, summed(call, joined, new Set(wanted), extents), wanted, extents);
  });
};

const extentsOf = (letters: readonly string[], extents: ReadonlyMap<string, number>): number[] =>
  letters.map(letter => extents.get(letter) ?? 1);

/** Sums a term over the dimensions that are not needed. */
function summed(
  { draft }: NodeCall,
  { tensor, letters }: Term,
  needed: ReadonlySet<string>,
  extents: ReadonlyMap<string, number>,
): Term {
  const axes = letters.flatMap((letter, d) => (needed.has(letter) ? [] : [d]));
  if (axes.length === 0) return { tensor, letters };
  const kept = letters.filter(letter => needed.has(letter));
  return {
    letters: kept,
    tensor: () => {
      const shape = extentsOf(letters, extents);
      const x = tensor();
      const whole = draft.cast(draft.expand(x, shape), 'f32');
      return draft.cast(draft.op('ReduceSum', [whole], { axes, keep_dims: false }), x.dtype);
    },
  };
}

/** A term with its dimensions in the given order, expanded to full extents. */
function ordered(
  { draft }: NodeCall,
  { tensor, letters }: Term,
  wanted: readonly string[],
  extents: ReadonlyMap<string, number>,
): LogicalTensor {
  const x = draft.transpose(
    tensor(),
    wanted.flatMap(letter => (letters.includes(letter) ? [letters.indexOf(letter)] : [])),
  );
  const own = shapeOf(x);
  let at = 0;
  const aligned = draft.reshape(
    x,
    wanted.map(letter => (letters.includes(letter) ? own[at++] : 1)),
  );
  return draft.expand(aligned, extentsOf(wanted, extents));
}

/**
 * The product of two terms as a batched matrix product. Batch dimensions are those that both terms have and
 * the result needs.
 */
function product(
  call: NodeCall,
  left: Term,
  right: Term,
  needed: ReadonlySet<string>,
  extents: ReadonlyMap<string, number>,
): Term {
  const { draft } = call;
  const [a, b] = [
    summed(call, left, new Set([...needed, ...right.letters]), extents),
    summed(call, right, new Set([...needed, ...left.letters]), extents),
  ];
  const shared = a.letters.filter(letter => b.letters.includes(letter));
  const batch = shared.filter(letter => needed.has(letter));
  const inner = shared.filter(letter => !needed.has(letter));
  const rows = a.letters.filter(letter => !shared.includes(letter));
  const columns = b.letters.filter(letter => !shared.includes(letter));
  const letters = [...batch, ...rows, ...columns];
  const shape = (of: readonly string[]): number[] => extentsOf(of, extents);
  const count = (of: readonly string[]): number => elementCount(shape(of));
  if (inner.length === 0) {
    const spread = (term: Term): LogicalTensor =>
      draft.reshape(
        ordered(
          call,
          term,
          letters.filter(letter => term.letters.includes(letter)),
          extents,
        ),
        letters.map(letter => (term.letters.includes(letter) ? (extents.get(letter) ?? 1) : 1)),
      );
    return { letters, tensor: () => draft.op('Multiply', [spread(a), spread(b)]) };
  }
  return {
    letters,
    tensor: () => {
      const x = draft.reshape(ordered(call, a, [...batch, ...rows, ...inner], extents), [
        ...shape(batch),
        ...[count(rows), count(inner)],
      ]);
      const y = draft.reshape(ordered(call, b, [...batch, ...inner, ...columns], extents), [
        ...shape(batch),
        ...[count(inner), count(columns)],
      ]);
      return draft.reshape(draft.op('MatMul', [x, y]), shape(letters));
    },
  };
}
