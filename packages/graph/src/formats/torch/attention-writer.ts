import { type SdpaOptions, standardSlopes, type TensorDesc } from '@tilewise/core';
import { type Expr, type LoadExpr, type Mod, modOf, type VariableName } from '@tilewise/core/expr';
import { attentionOptions } from '../../compile/attention/options.ts';
import type { AttentionCallStep } from '../../ir/program/attention-call.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { type Axis, CutError, extentOf, isCut, sameAxis, wholeAxes, wholeAxis } from './axes.ts';
import { loaded, type ProgramWriter, type PyTensor, torchDType, tuple } from './program-writer.ts';
import { atom, literal, type PythonExpr, pythonExpr } from './python-expr.ts';

/** A value as an option of attention. */
interface Operand extends TensorDesc {
  readonly index: number;
}

/** What is dropped: drawn, or by a mask. */
interface DropoutCode {
  readonly drawn?: string;
  readonly keep?: number;
  readonly factor?: string;
}

/** An attention in the terms of the Python module `attention`. */
interface AttentionForm {
  readonly options: SdpaOptions<Operand>;
  readonly dropout: DropoutCode;
  /** A scale that is known when the model runs. */
  readonly scale?: string;
}

/**
 * What is known of a value when the model is written; thrown where an option depends on a number that is not.
 */
class UnknownNumber extends Error {}

const supported: ReadonlySet<string> = new Set([
  ...['scale', 'causal', 'window', 'mask', 'bias', 'alibi', 'softcap', 'scoreMod', 'maskMod', 'sink'],
  ...['seqLensQ', 'seqLensKv', 'blockMask', 'maxSeqLenQ', 'maxSeqLenKv'],
]);

/** What attention is of, beside its options. */
const tensors: ReadonlySet<string> = new Set(['q', 'k', 'v', 'o', 'lse', 'dO', 'dLse']);

/** Writes attention calls of a program: a description and functions at the top of the model, and a call. */
export class AttentionWriter {
  readonly #program: ProgramWriter;
  /** Definitions that stand before the model. */
  readonly #definitions: string[];
  readonly #id: number;

  constructor(program: ProgramWriter, definitions: string[], id: number) {
    this.#program = program;
    this.#definitions = definitions;
    this.#id = id;
  }

  /** Attention that was recognised in operations. */
  step(step: Extract<AttentionStep, { kind: 'sdpa' }>): void {
    const { q, k, v, options, results } = step;
    const { dropout, rounding, ...rest } = options;
    if (rounding) throw new CutError('rounds probabilities to 8 bits');
    const [Sq, Skv] = [q, k].map(n => this.#desc(n).shape[2]);
    const source = (numbers: (value: number) => Float64Array) => ({
      tensor: (index: number): Operand => ({ ...this.#desc(index), index }),
      numbers,
    });
    let made: SdpaOptions<Operand>;
    try {
      made = attentionOptions<Operand>(
        rest,
        { Sq, Skv },
        source(n => this.#numbers(n)),
      ) as SdpaOptions<Operand>;
    } catch (error) {
      if (!(error instanceof UnknownNumber)) throw error;
      const program = { ...rest, options: null };
      made = attentionOptions<Operand>(
        program,
        { Sq, Skv },
        source(() => new Float64Array(1)),
      ) as SdpaOptions<Operand>;
    }
    const drawn =
      dropout &&
      this.#drawn(
        typeof dropout.p === 'number'
          ? literal(dropout.p).code
          : this.#program.number(dropout.p.value, 'float'),
        dropout.seed,
        dropout.offset,
      );
    this.#forward({ options: made, dropout: drawn ? { drawn } : {} }, { q, k, v }, results);
  }

  /** Attention that was written as one operation. */
  call({ pass, operands, settings, results }: AttentionCallStep): void {
    const { p, scoreMod, ...others } = settings;
    const given: Record<string, Operand> = {};
    const captures: Record<string, Operand> = {};
    for (const [name, index] of Object.entries(operands)) {
      const operand = { ...this.#desc(index), index };
      if (name.startsWith('captures.')) captures[name.slice('captures.'.length)] = operand;
      else if (!tensors.has(name) && !name.startsWith('dropout.') && name !== 'scale') given[name] = operand;
    }
    const options: SdpaOptions<Operand> = {
      ...others,
      ...given,
      ...(scoreMod && { scoreMod: modOf(scoreMod, captures) }),
    };
    const strange = Object.entries(options).find(
      ([name, value]) => value !== undefined && !supported.has(name),
    );
    if (strange)
      throw new CutError(`has the option '${strange[0]}', which the exported attention does not have`);
    const form: AttentionForm = {
      options,
      dropout: this.#dropoutOf(operands, p),
      ...(operands.scale !== undefined && { scale: this.#program.number(operands.scale, 'float') }),
    };
    if (pass === 'forward') this.#forward(form, operands, results);
    else this.#backward(form, operands, results);
  }

  #dropoutOf(operands: Readonly<Record<string, number>>, p: number | undefined): DropoutCode {
    const mask = operands['dropout.mask'];
    if (mask !== undefined) {
      const scale = operands['dropout.scale'];
      const given = p === undefined ? '1.0' : literal(1 / (1 - p)).code;
      return { keep: mask, factor: scale === undefined ? given : this.#program.number(scale, 'float') };
    }
    const seed = operands['dropout.seed'];
    if (p === undefined || seed === undefined) return {};
    return { drawn: this.#drawn(literal(p).code, seed, operands['dropout.offset']) };
  }

  #drawn(p: string, seed: number, offset: number | undefined): string {
    const at = offset === undefined ? '0' : this.#program.number(offset, 'int');
    return `Dropout(${p}, ${this.#program.number(seed, 'int')}, ${at})`;
  }

  #desc(index: number): TensorDesc {
    return this.#program.program.values[index].desc;
  }

  #numbers(index: number): Float64Array {
    const { value } = this.#program.read(index);
    if (value === undefined) throw new UnknownNumber();
    return Float64Array.of(value);
  }

  #forward(
    form: AttentionForm,
    inputs: Readonly<Record<string, number>>,
    results: Readonly<Record<string, number | undefined>>,
  ): void {
    const strange = Object.keys(results).find(name => !['o', 'lse', 'dropoutMask'].includes(name));
    if (strange !== undefined)
      throw new CutError(`gives '${strange}', which the exported attention does not give`);
    const { v, call, axes, operands, options } = this.#written(form, inputs);
    const { lines } = this.#program;
    const o = lines.name();
    const lse = results.lse === undefined ? '_' : lines.name();
    lines.call(`${o}, ${lse} = attention`, [call, ...operands, ...options]);
    const [B, H, S] = axes;
    if (results.o !== undefined) {
      const dtype = this.#desc(results.o).dtype;
      const code = dtype === this.#desc(inputs.q).dtype ? o : `${o}.to(${torchDType(dtype)})`;
      this.#program.assign(results.o, { code, axes: [B, H, S, v.axes[3]] });
    }
    if (results.lse !== undefined) this.#program.assign(results.lse, { code: lse, axes: [B, H, S] });
    if (results.dropoutMask !== undefined && form.dropout.drawn) {
      const { dtype, shape } = this.#desc(results.dropoutMask);
      const list = [B, H, S, wholeAxis(shape[3])];
      const code = `place.keep(${form.dropout.drawn}, ${axesTuple(list)}).to(${torchDType(dtype)})`;
      this.#program.assign(results.dropoutMask, { code, axes: list });
    }
  }

  #backward(
    form: AttentionForm,
    inputs: Readonly<Record<string, number>>,
    results: Readonly<Record<string, number>>,
  ): void {
    const { call, axes, operands, options, sink, captures, gradients } = this.#written(form, inputs);
    if (axes.some(isCut))
      throw new CutError('is a gradient of attention over ranks; export the forward graph');
    const [q, k, v] = operands;
    const [dO, dLse] = ['dO', 'dLse'].map(name =>
      inputs[name] === undefined ? 'None' : this.#program.whole(inputs[name], 'differentiates').code,
    );
    const { lines } = this.#program;
    const found = lines.name();
    const all = [q, k, v, sink ?? 'None', ...captures];
    const rest = options.filter(option => !/^(sink=|\()/.test(option));
    lines.call(`${found} = attention_gradients`, [call, tuple(all), dO, dLse, ...rest]);
    const places: Readonly<Record<string, number | undefined>> = {
      dq: 0,
      dk: 1,
      dv: 2,
      dsink: 3,
      ...gradients,
    };
    for (const [name, index] of Object.entries(results)) {
      const at = places[name];
      if (at === undefined) throw new CutError(`gives '${name}', which the exported attention does not give`);
      const { shape, dtype } = this.#desc(index);
      const code = `${found}[${at}].reshape(${shape.join(', ')}).to(${torchDType(dtype)})`;
      this.#program.assign(index, { code, axes: wholeAxes(shape) });
    }
  }

  /** The description of an attention before the model, and the arguments of its call. */
  #written({ options, dropout, scale }: AttentionForm, inputs: Readonly<Record<string, number>>) {
    const writer = this.#program;
    const q = writer.read(inputs.q);
    if (q.axes.length !== 4) throw new CutError('is of packed sequences');
    const [B, H, S] = q.axes;
    if (isCut(H) || isCut(q.axes[3])) throw new CutError('has heads or channels that are cut');
    requireRole(B, 'batch');
    requireRole(S, 'sequence');
    const keyAxes = (tensor: PyTensor): readonly Axis[] => {
      const own = tensor.axes[2];
      if (isCut(S) && extentOf(own) !== extentOf(S))
        throw new CutError('has keys that are not cut as its queries are');
      if (!isCut(S) && isCut(own)) throw new CutError('has keys that are cut and queries that are not');
      return [B, tensor.axes[1], isCut(S) ? S : own, tensor.axes[3]];
    };
    const [k, v] = [inputs.k, inputs.v].map(n => {
      const tensor = writer.read(n);
      return writer.aligned(tensor, keyAxes(tensor));
    });
    const Skv = extentOf(k.axes[2]);
    const captures: string[] = [];
    const capture = (index: number, axes: readonly Axis[] | null): string => {
      const tensor = writer.read(index);
      const own = axes ? writer.aligned(padded(tensor, axes.length), axes) : tensor;
      if (own.isShare) throw new CutError('reads a sum over ranks');
      const known = captures.indexOf(own.code);
      if (known < 0) captures.push(own.code);
      return `captures[${known < 0 ? captures.length - 1 : known}]`;
    };
    const scoreAxes = [B, H, S, wholeAxis(Skv)];
    const part = (operand: Operand): string =>
      loaded(`tile.part(${capture(operand.index, scoreAxes)})`, operand.dtype);
    const gradients: Record<string, number> = {};
    const note = (name: string, code: string): void => {
      const [, at] = /captures\[(\d+)\]/.exec(code) ?? [];
      if (at !== undefined) gradients[name] = 4 + Number(at);
    };

    const { causal, window, softcap, bias, alibi, mask, scoreMod, maskMod, sink } = options;
    const align = window?.align ?? (typeof causal === 'string' ? causal : 'top-left');
    const isBottom = align === 'bottom-right';
    const score: string[] = [];
    if (scoreMod) score.push(...this.#mod(scoreMod, 's = ', capture, scoreAxes));
    if (softcap !== undefined) {
      const cap = literal(softcap).code;
      score.push(`s = ${cap} * torch.tanh(s / ${cap})`);
    }
    if (bias) {
      const added = part(bias);
      score.push(`s = s + ${added}`);
      note('dbias', added);
    }
    if (alibi) {
      if (isBottom && (options.seqLensQ || options.seqLensKv)) {
        throw new CutError('has ALiBi on the diagonals of sequences of different lengths');
      }
      const off = isBottom ? Skv - extentOf(S) : 0;
      const slopes = this.#list(alibi === true ? standardSlopes(extentOf(H)) : alibi, capture);
      const distance = off === 0 ? 'tile.i - tile.j' : `tile.i + ${off} - tile.j`;
      score.push(`s = s - ${slopes}.view(1, -1, 1, 1) * (${distance}).abs()`);
      note('dAlibi', slopes);
    }
    const visible: string[] = [];
    if (mask) visible.push(`seen = ${part(mask)}${mask.dtype === 'bool' ? '' : ' != 0'}`);
    if (maskMod) visible.push(...this.#mod(maskMod, mask ? 'seen = seen & ' : 'seen = ', capture, scoreAxes));

    if (options.blockMask)
      visible.push(
        `${visible.length > 0 ? 'seen = seen & ' : 'seen = '}${blockMaskCode(options.blockMask, capture)}`,
      );

    const id = this.#id;
    const fields = [
      ...(options.scale === undefined ? [] : [`scale=${literal(options.scale).code}`]),
      ...this.#function(`score_${id}`, 'score', 's, tile, captures', score, 's'),
      ...this.#function(`visible_${id}`, 'visible', 'tile, captures', visible, 'seen'),
      ...bandFields(causal, window),
      ...(isBottom ? ['bottom_right=True'] : []),
    ];
    this.#definitions.push(`ATTENTION_${id} = Attention(${fields.join(', ')})`, '', '');
    const sinkCode = sink && this.#sink(sink);
    const lengths = (['seqLensQ', 'seqLensKv'] as const).flatMap(name => {
      const own = options[name];
      const key = name === 'seqLensQ' ? 'lengths_q' : 'lengths_kv';
      return own === undefined ? [] : [`${key}=${this.#lengths(own, B)}`];
    });
    const call = scale === undefined ? `ATTENTION_${id}` : `replace(ATTENTION_${id}, scale=${scale})`;
    const keep = dropout.keep === undefined ? undefined : writer.read(dropout.keep);
    const cut = [isCut(S) ? 'sequence=True' : '', isCut(B) ? 'batch=True' : ''].filter(text => text !== '');
    const dtypes = [inputs.q, inputs.k, inputs.v].map(n => this.#desc(n).dtype);
    const common = dtypes.every(dtype => dtype === dtypes[0]);
    const operands = ['q', 'k', 'v'].map((name, n) => {
      const { code } = [q, k, v][n];
      writer.lines.line(`${name} = ${common ? code : loaded(code, dtypes[n])}`);
      return name;
    });
    const options_ = [
      ...(captures.length > 0 ? [tuple(captures)] : []),
      ...(sinkCode ? [`sink=${sinkCode}`] : []),
      ...(dropout.drawn ? [`dropout=${dropout.drawn}`] : []),
      ...(keep
        ? [`keep=${writer.aligned(padded(keep, 4), scoreAxes).code}`, `keep_factor=${dropout.factor}`]
        : []),
      ...lengths,
      ...(cut.length > 0 ? [`**place.attention(${cut.join(', ')})`] : []),
    ];
    return {
      ...{ q, k, v, call, axes: q.axes, operands, captures, gradients },
      options: options_,
      sink: sinkCode || undefined,
    };
  }

  /** A function before the model, and the field of the description that names it. */
  #function(name: string, field: string, takes: string, lines: readonly string[], result: string): string[] {
    if (lines.length === 0) return [];
    const last = lines[lines.length - 1];
    const direct = last.startsWith(`${result} = `);
    const body = direct
      ? [...lines.slice(0, -1), `return ${last.slice(result.length + 3)}`]
      : [...lines, `return ${result}`];
    this.#definitions.push(`def ${name}(${takes}):`, ...body.map(line => `    ${line}`), '', '');
    return [`${field}=${name}`];
  }

  #mod(
    mod: Mod<Operand>,
    start: string,
    capture: (index: number, axes: readonly Axis[] | null) => string,
    scoreAxes: readonly Axis[],
  ): string[] {
    const lines: string[] = [];
    const made = pythonExpr(mod.expr, {
      named: code => {
        lines.push(`x${lines.length} = ${code}`);
        return `x${lines.length - 1}`;
      },
      variable: name => atom(variables[name]),
      load: (e, write) => this.#captured(e, write, mod, capture, scoreAxes),
    });
    const code = made.value === undefined ? made.code : `torch.tensor(${made.code})`;
    return [...lines, start.endsWith('& ') ? `${start}(${code})` : `${start}${code}`];
  }

  #captured(
    e: LoadExpr,
    write: (index: Expr) => PythonExpr,
    mod: Mod<Operand>,
    capture: (index: number, axes: readonly Axis[] | null) => string,
    [B, H, S, keys]: readonly Axis[],
  ): PythonExpr {
    const operand = mod.captures?.[e.name];
    if (!operand) throw new CutError(`reads '${e.name}', which it has not captured`);
    const tensor = this.#program.read(operand.index);
    if (tensor.value !== undefined) return literal(tensor.value, e.type);
    if (operand.shape.every(n => n === 1))
      return atom(loaded(`${capture(operand.index, null)}.flatten()`, operand.dtype));
    const isPlace = e.index.every(
      (index, d) =>
        (index.kind === 'constant' && operand.shape[d] === 1) ||
        (index.kind === 'variable' && index.name === placeNames[d]),
    );
    if (e.index.length === 4 && isPlace) {
      return atom(loaded(`tile.part(${capture(operand.index, [B, H, S, keys])})`, operand.dtype));
    }
    const places = e.index.map((index, d) => {
      if (!isCut(tensor.axes[d])) return write(index).code;
      const name = index.kind === 'variable' ? index.name : '';
      if (name === 'b' && sameAxis(tensor.axes[d], B)) return 'tile.entry';
      if (name === 'q' && sameAxis(tensor.axes[d], S)) return 'tile.row';
      throw new CutError(`captures a tensor that is cut along axis ${d}`);
    });
    return atom(loaded(`take(${[capture(operand.index, null), ...places].join(', ')})`, operand.dtype));
  }

  /** A list of numbers, or a tensor of them, as a capture. */
  #list(list: readonly number[] | Operand, capture: (index: number, axes: null) => string): string {
    if ('index' in list) return capture(list.index, null);
    return `s.new_tensor([${list.map(x => literal(x).code).join(', ')}])`;
  }

  #sink(sink: readonly number[] | Operand): string {
    if ('index' in sink) return this.#program.whole(sink.index, 'reads a sink').code;
    return `torch.tensor([${sink.map(x => literal(x).code).join(', ')}], device=place.device)`;
  }

  #lengths(lengths: readonly number[] | Operand, batch: Axis): string {
    if ('index' in lengths) return this.#program.aligned(this.#program.read(lengths.index), [batch]).code;
    const code = `torch.tensor([${lengths.join(', ')}], device=place.device)`;
    return this.#program.aligned({ code, axes: [wholeAxis(lengths.length)] }, [batch]).code;
  }
}

const placeNames: readonly string[] = ['b', 'h', 'q', 'kv'];

const variables: Readonly<Record<VariableName, string>> = {
  ...{ score: 's', b: 'tile.b', h: 'tile.h', q: 'tile.i', kv: 'tile.j' },
};

function bandFields(causal: SdpaOptions['causal'], window: SdpaOptions['window']): string[] {
  const right = Math.min(causal ? 0 : Number.POSITIVE_INFINITY, window?.right ?? Number.POSITIVE_INFINITY);
  return [
    ...(window?.left === undefined ? [] : [`left=${window.left}`]),
    ...(Number.isFinite(right) ? [`right=${right}`] : []),
  ];
}

/** Bit j of byte c of a row of tiles of 128 queries says whether the tile of 128 keys 8c + j is visible. */
function blockMaskCode(mask: Operand, capture: (index: number, axes: null) => string): string {
  const [b, h] = mask.shape.map((n, d) => (n === 1 ? '0' : ['tile.b', 'tile.h'][d]));
  const byte = `take(${capture(mask.index, null)}, ${b}, ${h}, tile.i // 128, tile.j // 1024).int()`;
  return `((${byte} >> (tile.j // 128 % 8)) % 2 == 1)`;
}

function requireRole(axis: Axis, role: string): void {
  if (isCut(axis) && (axis.length !== 1 || axis[0].role !== role)) {
    throw new CutError(`has an axis that must hold the ${role} alone`);
  }
}

/** A tensor with leading axes of 1. */
function padded(tensor: PyTensor, rank: number): PyTensor {
  const lead = rank - tensor.axes.length;
  if (lead <= 0) return tensor;
  const code = `${tensor.code}.reshape(${[...new Array<string>(lead).fill('1'), `*${tensor.code}.shape`].join(', ')})`;
  return { ...tensor, code, axes: [...new Array<Axis>(lead).fill([]), ...tensor.axes] };
}

function axesTuple(axes: readonly Axis[]): string {
  return tuple(
    axes.map(
      axis =>
        `(${axis.length === 0 ? '1' : axis.map(({ role, extent }) => (role ? `"${role}"` : extent)).join(', ')},)`,
    ),
  );
}
