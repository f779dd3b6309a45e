import { standardSlopes } from '@tilewise/core';
import type { Expr, LoadExpr, Mod, VariableName } from '@tilewise/core/expr';
import type { ProgramWriter } from '../program-writer.ts';
import { type Axis, ExportError, extentOf, isSharded, sameAxis } from '../tensors/axes.ts';
import { atom, literal, type PythonExpr, pythonExpr } from '../tensors/expression.ts';
import { aligned, loaded, type PyTensor } from '../tensors/tensor.ts';
import type { AttentionForm, Operand } from './attention-form.ts';

/** The stages of attention's scores other than scale and band, as bodies of Python functions. */
export interface ScoreProgram {
  /** The lines that change `s`. */
  readonly score: readonly string[];
  /** The lines that assign `seen`. */
  readonly visible: readonly string[];
  /** The values that the functions read, as expressions of the caller. */
  readonly captures: readonly string[];
  /** The index of each option's gradient among the gradients of the captures. */
  readonly gradients: Readonly<Record<string, number>>;
}

/**
 * Writes the operations of attention on its scores.
 * @param axes the axes of the scores; key axes are not sharded.
 */
export function scoreProgram(
  writer: ProgramWriter,
  { options }: AttentionForm,
  axes: readonly Axis[],
): ScoreProgram {
  const { dialect } = writer.lines;
  const own = new Captures(writer, axes);
  const { causal, window, softcap, bias, alibi, mask, scoreMod, maskMod, blockMask } = options;
  const score: string[] = [];
  const gradients: Record<string, number> = {};
  if (scoreMod) score.push(...own.mod(scoreMod, 's = '));
  if (softcap !== undefined) {
    const cap = literal(softcap).code;
    score.push(`s = ${cap} * ${dialect.element('tanh', `(s / ${cap})`)}`);
  }
  if (bias) {
    gradients.dbias = own.place(bias.index, axes);
    score.push(`s = s + ${own.part(bias)}`);
  }
  if (alibi) {
    const isBottom = (window?.align ?? causal) === 'bottom-right';
    if (isBottom && (options.seqLensQ || options.seqLensKv)) {
      throw new ExportError('has ALiBi on the diagonals of sequences of different lengths');
    }
    const [, H, S, keys] = axes;
    const off = isBottom ? extentOf(keys) - extentOf(S) : 0;
    const list = alibi === true ? standardSlopes(extentOf(H)) : alibi;
    if ('index' in list) gradients.dAlibi = own.place(list.index, null);
    const slopes =
      'index' in list
        ? own.capture(list.index)
        : dialect.list(
            [...list].map(x => literal(x).code),
            's',
          );
    const distance = off === 0 ? '(tile.i - tile.j)' : `(tile.i + ${off} - tile.j)`;
    score.push(`s = s - ${slopes}.reshape(1, -1, 1, 1) * ${dialect.element('abs', distance)}`);
  }
  const visible: string[] = [];
  const start = (): string => (visible.length > 0 ? 'seen = seen & ' : 'seen = ');
  if (mask) visible.push(`seen = ${own.part(mask)}${mask.dtype === 'bool' ? '' : ' != 0'}`);
  if (maskMod) visible.push(...own.mod(maskMod, start()));
  if (blockMask) visible.push(`${start()}${own.tiles(blockMask)}`);
  return { score, visible, captures: own.list, gradients };
}

const placeNames: readonly string[] = ['b', 'h', 'q', 'kv'];

const variables: Readonly<Record<VariableName, string>> = {
  ...{ score: 's', b: 'tile.b', h: 'tile.h', q: 'tile.i', kv: 'tile.j' },
};

/** The tensors that score functions read. */
class Captures {
  readonly list: string[] = [];
  readonly #writer: ProgramWriter;
  readonly #axes: readonly Axis[];

  constructor(writer: ProgramWriter, axes: readonly Axis[]) {
    this.#writer = writer;
    this.#axes = axes;
  }

  /** The index of a tensor in the list; the tensor is aligned with `axes`. */
  place(index: number, axes: readonly Axis[] | null): number {
    const tensor = this.#writer.read(index);
    const own = axes ? aligned(padded(tensor, axes.length), axes) : tensor;
    if (own.isShare) throw new ExportError('reads a sum over ranks');
    if (!this.list.includes(own.code)) this.list.push(own.code);
    return this.list.indexOf(own.code);
  }

  capture(index: number, axes: readonly Axis[] | null = null): string {
    return `captures[${this.place(index, axes)}]`;
  }

  /** The part of a tensor that broadcasts to the scores of a tile. */
  part({ index, dtype }: Operand): string {
    return loaded(this.#writer.lines.dialect, `tile.part(${this.capture(index, this.#axes)})`, dtype);
  }

  /** Bit j of byte c of a row of tiles of 128 queries says whether the tile of 128 keys 8c + j is visible. */
  tiles(mask: Operand): string {
    const [b, h] = mask.shape.map((n, d) => (n === 1 ? '0' : ['tile.b', 'tile.h'][d]));
    const byte = `take(${this.capture(mask.index)}, ${b}, ${h}, tile.i // 128, tile.j // 1024)`;
    return `((${this.#writer.lines.dialect.cast(byte, 'i32')} >> (tile.j // 128 % 8)) % 2 == 1)`;
  }

  mod(mod: Mod<Operand>, start: string): string[] {
    const lines: string[] = [];
    const { dialect } = this.#writer.lines;
    const made = pythonExpr(mod.expr, {
      copies: 'place.ranks',
      dialect,
      named: code => {
        lines.push(`x${lines.length} = ${code}`);
        return `x${lines.length - 1}`;
      },
      variable: name => atom(variables[name]),
      load: (e, write) => this.#load(e, write, mod),
    });
    const code = made.value === undefined ? made.code : dialect.number(made.code);
    return [...lines, start.endsWith('& ') ? `${start}(${code})` : `${start}${code}`];
  }

  #load(e: LoadExpr, write: (index: Expr) => PythonExpr, mod: Mod<Operand>): PythonExpr {
    const operand = mod.captures?.[e.name];
    if (!operand) throw new ExportError(`reads '${e.name}', which it has not captured`);
    const { index, shape, dtype } = operand;
    const { dialect } = this.#writer.lines;
    const tensor = this.#writer.read(index);
    if (tensor.value !== undefined) return literal(tensor.value, e.type);
    if (shape.every(n => n === 1)) return atom(loaded(dialect, `${this.capture(index)}.flatten()`, dtype));
    const isPlace = e.index.every(
      (at, d) =>
        (at.kind === 'constant' && shape[d] === 1) || (at.kind === 'variable' && at.name === placeNames[d]),
    );
    if (e.index.length === 4 && isPlace) return atom(this.part(operand));
    const [B, , S] = this.#axes;
    const places = e.index.map((at, d) => {
      if (!isSharded(tensor.axes[d])) return write(at).code;
      const name = at.kind === 'variable' ? at.name : '';
      if (name === 'b' && sameAxis(tensor.axes[d], B)) return 'tile.entry';
      if (name === 'q' && sameAxis(tensor.axes[d], S)) return 'tile.row';
      throw new ExportError(`captures a tensor that is sharded along axis ${d}`);
    });
    return atom(loaded(dialect, `take(${[this.capture(index), ...places].join(', ')})`, dtype));
  }
}

/** Adds leading axes of extent 1 to a tensor. */
export function padded(tensor: PyTensor, rank: number): PyTensor {
  const lead = rank - tensor.axes.length;
  if (lead <= 0) return tensor;
  const code = `${tensor.code}.reshape(${[...new Array<string>(lead).fill('1'), `*${tensor.code}.shape`].join(', ')})`;
  return { ...tensor, code, axes: [...new Array<Axis>(lead).fill([]), ...tensor.axes] };
}
