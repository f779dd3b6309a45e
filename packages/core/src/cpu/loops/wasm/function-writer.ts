import { scalar, types, type ValueType, vector } from './opcodes.ts';

/** A local variable of the function. */
export type Local = number;

/** A function that a module imports: its parameters, and one result. */
export interface ImportedFunction {
  readonly group: string;
  readonly name: string;
  readonly parameters: readonly ValueType[];
  readonly result: ValueType;
}

const EMPTY_BLOCK = 0x40;

/**
 * Writes a module of one function, which takes one i32 and returns nothing. Successive calls write successive
 * instructions.
 */
export class FunctionWriter {
  readonly #code: number[] = [];
  readonly #locals: ValueType[] = [];
  readonly #imports: ImportedFunction[] = [];

  /** The parameter. */
  readonly parameter: Local = 0;

  local(type: ValueType): Local {
    return this.#locals.push(type);
  }

  get(...locals: readonly Local[]): this {
    return this.#emit(...locals.flatMap(local => [scalar.localGet, ...unsigned(local)]));
  }

  set(local: Local): this {
    return this.#emit(scalar.localSet, ...unsigned(local));
  }

  /** An instruction without immediate operands. */
  scalar(name: keyof typeof scalar): this {
    return this.#emit(scalar[name]);
  }

  /** A load or store, `offset` bytes after the address on the stack. */
  memory(name: keyof typeof scalar, offset = 0): this {
    return this.#emit(scalar[name], 0, ...unsigned(offset));
  }

  /** A vector instruction, with a lane index if it needs one. */
  vector(name: keyof typeof vector, ...lane: number[]): this {
    return this.#emit(0xfd, ...unsigned(vector[name]), ...lane);
  }

  vectorMemory(name: keyof typeof vector, offset = 0, ...lane: number[]): this {
    return this.vector(name, 0, ...unsigned(offset), ...lane);
  }

  i32(value: number): this {
    return this.#emit(0x41, ...signed(value));
  }

  /** Four i32 lanes, or one number in all four. */
  words(...lanes: readonly number[]): this {
    const all = Int32Array.from({ length: 4 }, (_, lane) => lanes[lane % lanes.length]);
    return this.vector('const', ...new Uint8Array(all.buffer));
  }

  /** One f32 in four lanes. */
  floats(value: number): this {
    return this.vector('const', ...new Uint8Array(new Float32Array(4).fill(value).buffer));
  }

  call(f: ImportedFunction): this {
    const known = this.#imports.findIndex(({ group, name }) => group === f.group && name === f.name);
    const at = known >= 0 ? known : this.#imports.push(f) - 1;
    return this.#emit(scalar.call, ...unsigned(at));
  }

  /** Repeats a body while a local, which counts down, is not 0; skips it if the local is 0 at first. */
  countDown(counter: Local, body: () => void): void {
    this.get(counter).#emit(0x04, EMPTY_BLOCK, 0x03, EMPTY_BLOCK);
    body();
    this.get(counter).i32(1).scalar('i32Sub').set(counter).get(counter).#emit(0x0d, 0, 0x0b, 0x0b);
  }

  /** local += the number on the stack. */
  increase(local: Local): this {
    return this.get(local).scalar('i32Add').set(local);
  }

  #emit(...code: readonly number[]): this {
    this.#code.push(...code);
    return this;
  }

  /** The module; it imports `env.memory` and exports the function as `run`. */
  module(sharedMemory: boolean): Uint8Array<ArrayBuffer> {
    const own = functionType(['i32'], []);
    const signatures = this.#imports.map(f => functionType(f.parameters, [f.result]));
    const imports = this.#imports.map((f, n) => [...text(f.group), ...text(f.name), 0, ...unsigned(n)]);
    const limits = [sharedMemory ? 3 : 1, 0, ...unsigned(65_536)];
    const memory = [...text('env'), ...text('memory'), 2, ...limits];
    const locals = this.#locals.map(type => [1, types[type]]);
    const body = [...list(locals), ...this.#code, 0x0b];
    return Uint8Array.from([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, [...signatures, own]),
      ...section(2, [...imports, memory]),
      ...section(3, [unsigned(imports.length)]),
      ...section(7, [[...text('run'), 0, ...unsigned(imports.length)]]),
      ...section(10, [[...unsigned(body.length), ...body]]),
    ]);
  }
}

function functionType(parameters: readonly ValueType[], results: readonly ValueType[]): number[] {
  const codes = (list: readonly ValueType[]): number[] => [list.length, ...list.map(type => types[type])];
  return [0x60, ...codes(parameters), ...codes(results)];
}

function section(id: number, entries: readonly (readonly number[])[]): number[] {
  const content = list(entries);
  return [id, ...unsigned(content.length), ...content];
}

function list(entries: readonly (readonly number[])[]): number[] {
  return [...unsigned(entries.length), ...entries.flat()];
}

function text(ascii: string): number[] {
  return [ascii.length, ...new TextEncoder().encode(ascii)];
}

/** A number in LEB128. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const low = rest & 0x7f;
    const isLast = rest >> 6 === 0 || rest >> 6 === -1;
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}
