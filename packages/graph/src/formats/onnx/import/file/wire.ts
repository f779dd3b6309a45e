import { InvalidGraphError } from '../../../../errors.ts';

/**
 * A field in wire format: a number, or the bytes of a text, a message, packed numbers or one 32- or 64-bit
 * number.
 */
interface WireField {
  readonly wire: number;
  readonly integer: bigint;
  readonly bytes: Uint8Array;
}

const varintType = 0;
const fixed64Type = 1;
const bytesType = 2;
const fixed32Type = 5;
const none = new Uint8Array(0);

/** The maximum number of bytes of a varint: 64 bits in groups of seven. */
const varintBytes = 10;

/**
 * A protobuf message: its fields by number, parsed once and checked on access
 * (https://protobuf.dev/programming-guides/encoding). Texts and messages share the memory of the file.
 *
 * A file may come from anyone, so every length is checked against the available bytes.
 */
export class Message {
  readonly #fields = new Map<number, WireField[]>();
  readonly #where: string;

  /**
   * @param where the name of the message in errors, such as `node 3`.
   * @throws InvalidGraphError if the bytes are not a protobuf message.
   */
  constructor(bytes: Uint8Array, where: string) {
    this.#where = where;
    // Uses a plain view, because `slice` of Node's Buffer, which is a Uint8Array too, does not copy.
    const view = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const reader = new WireReader(view, rule => this.fail(rule));
    while (!reader.isAtEnd) {
      const [number, field] = reader.field();
      const known = this.#fields.get(number);
      if (known) known.push(field);
      else this.#fields.set(number, [field]);
    }
  }

  /** @throws InvalidGraphError naming the message. */
  fail(rule: string): never {
    throw new InvalidGraphError(`ONNX file: ${this.#where} ${rule}`, this.#where);
  }

  #all(number: number, name: string, ...wires: readonly number[]): readonly WireField[] {
    const fields = this.#fields.get(number) ?? [];
    const wrong = fields.find(({ wire }) => !wires.includes(wire));
    if (wrong) this.fail(`has a field '${name}' of wire type ${wrong.wire}, expected ${wires.join(' or ')}`);
    return fields;
  }

  has(number: number): boolean {
    return this.#fields.has(number);
  }

  /**
   * The bytes of a field; undefined if it is absent. If it occurs several times, the last one counts, as
   * protobuf requires.
   */
  bytes(number: number, name: string): Uint8Array | undefined {
    return this.#all(number, name, bytesType).at(-1)?.bytes;
  }

  texts(number: number, name: string): string[] {
    return this.#all(number, name, bytesType).map(({ bytes }) => this.#text(bytes, name));
  }

  text(number: number, name: string): string {
    const bytes = this.bytes(number, name);
    return bytes ? this.#text(bytes, name) : '';
  }

  #text(bytes: Uint8Array, name: string): string {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      return this.fail(`has a field '${name}' that is not UTF-8`);
    }
  }

  /** The messages of a repeated field; `where` returns the name of each for errors. */
  messages(number: number, name: string, where: (index: number) => string): Message[] {
    return this.#all(number, name, bytesType).map(({ bytes }, n) => new Message(bytes, where(n)));
  }

  message(number: number, name: string): Message | undefined {
    const bytes = this.bytes(number, name);
    return bytes && new Message(bytes, `${this.#where}, ${name}`);
  }

  /** Signed 64-bit integers, packed or one by one. */
  integers(number: number, name: string): bigint[] {
    return this.#all(number, name, varintType, bytesType).flatMap(({ wire, integer, bytes }) => {
      if (wire === varintType) return [BigInt.asIntN(64, integer)];
      const reader = new WireReader(bytes, rule => this.fail(`, ${name}: ${rule}`));
      const all: bigint[] = [];
      while (!reader.isAtEnd) all.push(BigInt.asIntN(64, reader.varint()));
      return all;
    });
  }

  /**
   * One integer; 0 if the field is absent.
   * @throws InvalidGraphError for an integer beyond 2^53.
   */
  integer(number: number, name: string): number {
    const value = Number(this.integers(number, name).at(-1) ?? 0n);
    return Number.isSafeInteger(value) ? value : this.fail(`has ${name} ${value}, beyond 2^53`);
  }

  /** Floats of 4 or 8 bytes, packed or one by one. */
  floats(number: number, name: string, size: 4 | 8): number[] {
    const wire = size === 4 ? fixed32Type : fixed64Type;
    return this.#all(number, name, wire, bytesType).flatMap(({ bytes }) => {
      if (bytes.length % size !== 0)
        this.fail(`has ${bytes.length} bytes of ${name}, which is not a multiple of ${size}`);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      return Array.from({ length: bytes.length / size }, (_, n) =>
        size === 4 ? view.getFloat32(4 * n, true) : view.getFloat64(8 * n, true),
      );
    });
  }
}

/** Reads fields and varints from bytes, and never beyond them. */
class WireReader {
  readonly #bytes: Uint8Array;
  readonly #fail: (rule: string) => never;
  #at = 0;

  constructor(bytes: Uint8Array, fail: (rule: string) => never) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let n = 0; n < varintBytes; n++) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) this.#fail('ends within a number');
      value |= BigInt(byte & 0x7f) << BigInt(7 * n);
      if (byte < 0x80) return value;
    }
    return this.#fail(`has a number of more than ${varintBytes} bytes`);
  }

  #take(length: bigint): Uint8Array {
    const left = this.#bytes.length - this.#at;
    if (length > left) this.#fail(`ends early: a field takes ${length} bytes, ${left} are left`);
    const taken = this.#bytes.subarray(this.#at, this.#at + Number(length));
    this.#at += Number(length);
    return taken;
  }

  field(): [number, WireField] {
    const key = this.varint();
    const [number, wire] = [Number(key >> 3n), Number(key & 7n)];
    if (number < 1 || number >= 2 ** 29) this.#fail(`has a field with the number ${number}`);
    switch (wire) {
      case varintType:
        return [number, { wire, integer: this.varint(), bytes: none }];
      case fixed64Type:
        return [number, { wire, integer: 0n, bytes: this.#take(8n) }];
      case bytesType:
        return [number, { wire, integer: 0n, bytes: this.#take(this.varint()) }];
      case fixed32Type:
        return [number, { wire, integer: 0n, bytes: this.#take(4n) }];
      default:
        return this.#fail(`has a field of wire type ${wire}, which is not one of protobuf 3`);
    }
  }
}
