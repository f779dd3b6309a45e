import type { SdpaOptions } from '@tilewise/core';
import type { AttentionCallStep } from '../../../ir/program/attention-call.ts';
import type { SdpaStep } from '../../../ir/program/attention-step.ts';
import type { ProgramWriter } from '../program-writer.ts';
import {
  type Axis,
  ExportError,
  extentOf,
  isSharded,
  unshardedAxes,
  unshardedAxis,
} from '../tensors/axes.ts';
import { literal } from '../tensors/expression.ts';
import { aligned, axesTuple, loaded, type PyTensor, tuple } from '../tensors/tensor.ts';
import { type AttentionForm, formOfCall, formOfStep, type Operand } from './attention-form.ts';
import { padded, scoreProgram } from './score-program.ts';

type Values<T = number> = Readonly<Record<string, T>>;

/** The parts of an attention call. */
interface Written {
  /** The expression of the attention's description. */
  readonly call: string;
  readonly axes: readonly Axis[];
  readonly v: PyTensor;
  readonly captures: readonly string[];
  /** The arguments after the captures. */
  readonly options: readonly string[];
  readonly sink?: string | undefined;
  /** The index of each option's gradient among the gradients of the captures. */
  readonly gradients: Values;
}

/**
 * Writes the attention calls of a program. Each has a description and functions at the top of the model, and
 * a call.
 */
export class AttentionWriter {
  readonly #program: ProgramWriter;
  /** The definitions before the model. */
  readonly #definitions: string[];
  readonly #id: number;

  constructor(program: ProgramWriter, definitions: string[], id: number) {
    this.#program = program;
    this.#definitions = definitions;
    this.#id = id;
  }

  /** Writes attention that was recognised in operations. */
  step(step: SdpaStep): void {
    const { q, k, v, results } = step;
    this.#forward(formOfStep(this.#program, step), { q, k, v }, results);
  }

  /** Writes attention from one operation. */
  call(step: AttentionCallStep): void {
    const form = formOfCall(this.#program, step);
    if (step.pass === 'forward') this.#forward(form, step.operands, step.results);
    else this.#backward(form, step.operands, step.results);
  }

  #forward(form: AttentionForm, inputs: Values, results: Values<number | undefined>): void {
    const unknown = Object.keys(results).find(name => !['o', 'lse', 'dropoutMask'].includes(name));
    if (unknown !== undefined)
      throw new ExportError(`has the result '${unknown}', which the exported attention does not have`);
    const { v, call, axes, captures, sink, options } = this.#written(form, inputs);
    const { lines } = this.#program;
    const o = lines.name();
    const lse = results.lse === undefined ? '_' : lines.name();
    const given = [
      ...(captures.length > 0 ? [tuple(captures)] : []),
      ...(sink ? [`sink=${sink}`] : []),
      ...options,
    ];
    lines.call(`${o}, ${lse} = attention`, [call, 'q', 'k', 'v', ...given]);
    const [B, H, S] = axes;
    if (results.o !== undefined) {
      const { dtype } = this.#program.desc(results.o);
      const code = dtype === this.#program.desc(inputs.q).dtype ? o : lines.dialect.cast(o, dtype);
      this.#program.assign(results.o, { code, axes: [B, H, S, v.axes[3]] });
    }
    if (results.lse !== undefined) this.#program.assign(results.lse, { code: lse, axes: [B, H, S] });
    if (results.dropoutMask !== undefined && form.dropout.drawn) {
      // Python draws a mask by the index of an element; FlashAttention-2's masks are drawn in tiles.
      if (form.dropout.scheme === 'flash-attention-2')
        throw new ExportError(`has the result 'dropoutMask' of the dropout scheme '${form.dropout.scheme}'`);
      const { dtype, shape } = this.#program.desc(results.dropoutMask);
      const list = [B, H, S, unshardedAxis(shape[3])];
      const code = lines.dialect.cast(`place.keep(${form.dropout.drawn}, ${axesTuple(list)})`, dtype);
      this.#program.assign(results.dropoutMask, { code, axes: list });
    }
  }

  #backward(form: AttentionForm, inputs: Values, results: Values): void {
    const { call, axes, options, sink, captures, gradients } = this.#written(form, inputs);
    if (axes.some(isSharded))
      throw new ExportError('is a gradient of attention over ranks: export the forward graph');
    const [dO, dLse] = ['dO', 'dLse'].map(name =>
      inputs[name] === undefined ? 'None' : this.#program.unsharded(inputs[name], 'differentiates').code,
    );
    const { lines } = this.#program;
    const found = lines.name();
    const all = ['q', 'k', 'v', sink ?? 'None', ...captures];
    lines.call(`${found} = attention_gradients`, [call, tuple(all), dO, dLse, ...options]);
    const places: Values<number | undefined> = { dq: 0, dk: 1, dv: 2, dsink: 3, ...gradients };
    for (const [name, index] of Object.entries(results)) {
      const at = places[name];
      if (at === undefined)
        throw new ExportError(`has the result '${name}', which the exported attention does not have`);
      const { shape, dtype } = this.#program.desc(index);
      const code = lines.dialect.cast(`${found}[${at}].reshape(${shape.join(', ')})`, dtype);
      this.#program.assign(index, { code, axes: unshardedAxes(shape) });
    }
  }

  /** Writes the description of attention before the model, and assigns q, k and v. */
  #written(form: AttentionForm, inputs: Values): Written {
    const { options, dropout, scale } = form;
    const writer = this.#program;
    const q = writer.read(inputs.q);
    if (q.axes.length !== 4) throw new ExportError('is of packed sequences');
    const [B, H, S] = q.axes;
    if (isSharded(H) || isSharded(q.axes[3])) throw new ExportError('has sharded heads or channels');
    requireRole(B, 'batch');
    requireRole(S, 'sequence');
    const [k, v] = [inputs.k, inputs.v].map(n => alignedKeys(writer.read(n), q.axes));
    const scoreAxes = [B, H, S, unshardedAxis(extentOf(k.axes[2]))];
    const { score, visible, captures, gradients } = scoreProgram(writer, form, scoreAxes);
    const isBottom = (options.window?.align ?? options.causal) === 'bottom-right';
    const id = this.#id;
    const fields = [
      ...(options.scale === undefined ? [] : [`scale=${literal(options.scale).code}`]),
      ...this.#function(`score_${id}`, 'score', 's, tile, captures', score, 's'),
      ...this.#function(`visible_${id}`, 'visible', 'tile, captures', visible, 'seen'),
      ...bandFields(options),
      ...(isBottom ? ['bottom_right=True'] : []),
    ];
    this.#definitions.push(`ATTENTION_${id} = Attention(${fields.join(', ')})`, '', '');
    const lengths = (['seqLensQ', 'seqLensKv'] as const).flatMap(name => {
      const own = options[name];
      const key = name === 'seqLensQ' ? 'lengths_q' : 'lengths_kv';
      return own === undefined ? [] : [`${key}=${this.#lengths(own, B)}`];
    });
    const { dialect } = writer.lines;
    const dtypes = [inputs.q, inputs.k, inputs.v].map(n => writer.desc(n).dtype);
    const common = dtypes.every(dtype => dtype === dtypes[0]);
    for (const [n, name] of ['q', 'k', 'v'].entries()) {
      const { code } = [q, k, v][n];
      writer.lines.line(`${name} = ${common ? code : loaded(dialect, code, dtypes[n])}`);
    }
    const keep = dropout.keep === undefined ? undefined : writer.read(dropout.keep);
    const cut = [isSharded(S) ? 'sequence=True' : '', isSharded(B) ? 'batch=True' : ''].filter(
      text => text !== '',
    );
    return {
      call: scale === undefined ? `ATTENTION_${id}` : dialect.rescaled(`ATTENTION_${id}`, scale),
      ...{ v, axes: q.axes, captures },
      gradients: Object.fromEntries(Object.entries(gradients).map(([name, at]) => [name, 4 + at])),
      options: [
        ...(dropout.drawn ? [`dropout=${dropout.drawn}`] : []),
        ...(keep
          ? [`keep=${aligned(padded(keep, 4), scoreAxes).code}`, `keep_factor=${dropout.factor}`]
          : []),
        ...lengths,
        ...(cut.length > 0 ? [`**place.attention(${cut.join(', ')})`] : []),
      ],
      sink: options.sink && this.#sink(options.sink),
    };
  }

  /** Writes a function before the model, and returns the field of the description that refers to it. */
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

  #sink(sink: readonly number[] | Operand): string {
    if ('index' in sink) return this.#program.unsharded(sink.index, 'reads a sink').code;
    return this.#program.lines.dialect.list(sink.map(x => literal(x).code));
  }

  #lengths(lengths: readonly number[] | Operand, batch: Axis): string {
    if ('index' in lengths) return aligned(this.#program.read(lengths.index), [batch]).code;
    const code = this.#program.lines.dialect.list(lengths.map(String));
    return aligned({ code, axes: [unshardedAxis(lengths.length)] }, [batch]).code;
  }
}

/** Keys or values, sharded like the queries. */
function alignedKeys(tensor: PyTensor, [B, , S]: readonly Axis[]): PyTensor {
  const own = tensor.axes[2];
  if (isSharded(S) && extentOf(own) !== extentOf(S))
    throw new ExportError('has keys that are not sharded like its queries');
  if (!isSharded(S) && isSharded(own))
    throw new ExportError('has sharded keys but queries that are not sharded');
  return aligned(tensor, [B, tensor.axes[1], isSharded(S) ? S : own, tensor.axes[3]]);
}

function bandFields({ causal, window }: SdpaOptions<Operand>): string[] {
  const right = Math.min(causal ? 0 : Infinity, window?.right ?? Infinity);
  return [
    ...(window?.left === undefined ? [] : [`left=${window.left}`]),
    ...(Number.isFinite(right) ? [`right=${right}`] : []),
  ];
}

function requireRole(axis: Axis, role: string): void {
  if (isSharded(axis) && (axis.length !== 1 || axis[0].role !== role)) {
    throw new ExportError(`has an axis that must hold the ${role} alone`);
  }
}
