import { TilewiseError } from '../../../errors.ts';
import type { TypedArray } from '../../../tensor/dtype/dtype.ts';
import { createArena } from './arena.ts';
import { createHeap } from './heap.ts';

/** A range of the memory that kernels work on. */
export interface Panel<A extends PanelArray = Float32Array> {
  /** The address of the panel's first byte, a multiple of 64. */
  readonly at: number;
  /** The elements of the panel. Get them again after an allocation: growing the memory may move them. */
  readonly values: A;
}

/** Allocates i32 in the memory; returns the address of the first. */
export type AllocateWords = (words: number) => number;

type PanelArray = Float32Array | Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

interface PanelArrayType<A extends PanelArray> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, at: number, length: number): A;
}

/**
 * The memory of one set of kernels. A call allocates panels from it and frees them all at once. Tensors may
 * be stored in it too, and stay until they are freed.
 */
export interface Memory {
  /** A panel of zeros. @throws TilewiseError with code `OUT_OF_MEMORY`. */
  allocate<A extends PanelArray>(type: PanelArrayType<A>, length: number): Panel<A>;
  /** A panel of f32 zeros. */
  floats(length: number): Panel;
  /** A panel of f32 with undefined contents. */
  scratch(length: number): Panel;
  /** Frees all panels. */
  reset(): void;
  /**
   * Allocates storage with undefined contents that stays until it is freed. Null if growing moves the memory,
   * so that nothing can stay, or if there is not enough space.
   */
  keep(bytes: number): { readonly buffer: ArrayBufferLike; readonly at: number } | null;
  /** Frees storage from `keep`. */
  free(at: number): void;
  /** The address of the first element of an array that is stored in this memory; −1 for any other array. */
  addressOf(array: TypedArray): number;
  /** The whole memory as f32 and as other types: the element at address n is `f32[n >>> 2]`. */
  readonly f32: Float32Array;
  readonly f64: Float64Array;
  readonly i32: Int32Array;
  readonly u16: Uint16Array;
  readonly u8: Uint8Array;
  /** The bytes of the memory, used or not. */
  readonly bytes: number;
  /** Whether tensors are stored in it. */
  readonly isKept: boolean;
  /** Changes when the addresses of earlier panels may no longer be used as scratch memory. */
  readonly generation: number;
}

/** A buffer that can grow. The contents survive; earlier views do not, unless the buffer stays in place. */
export interface GrowingBuffer {
  /** The buffer before the memory first grows. */
  readonly buffer: ArrayBufferLike;
  /** Grows the memory by at least `bytes`, and returns the new buffer. Throws if there is no space. */
  grow(bytes: number): ArrayBufferLike;
  /** Whether views of the buffer stay valid when the memory grows. */
  readonly staysInPlace: boolean;
}

/**
 * Kernels with more memory than this are not reused for the next pass, because WebAssembly cannot free
 * memory.
 */
export const MEMORY_KEPT: number = 128 * 2 ** 20;

/** The part of a buffer from `base` on, as a memory. */
export function createMemory({ buffer: initial, grow, staysInPlace }: GrowingBuffer, base: number): Memory {
  let buffer = initial;
  const buffers = new WeakSet<ArrayBufferLike>([buffer]);
  const heap = createHeap(base, buffer.byteLength, bytes => {
    buffer = grow(bytes);
    buffers.add(buffer);
    Object.assign(memory, viewsOf(buffer));
    return buffer.byteLength;
  });
  let kept = 0;
  const arena = createArena({
    allocate(bytes) {
      try {
        return heap.allocate(bytes);
      } catch (cause) {
        const rule = `the CPU engine has ${buffer.byteLength} bytes, of at most 4 GiB, and cannot allocate another ${bytes}`;
        throw new TilewiseError('OUT_OF_MEMORY', rule, { cause });
      }
    },
    free: heap.free,
  });

  const current = (): ArrayBufferLike => buffer;

  function allocate<A extends PanelArray>(type: PanelArrayType<A>, length: number): Panel<A> {
    const panel = panelOf(type, length);
    memory.u8.fill(0, panel.at, panel.at + length * type.BYTES_PER_ELEMENT);
    return panel;
  }

  function panelOf<A extends PanelArray>(type: PanelArrayType<A>, length: number): Panel<A> {
    return new MemoryPanel(current, type, arena.reserve(length * type.BYTES_PER_ELEMENT), length);
  }

  const memory: Memory = {
    ...viewsOf(buffer),
    allocate,
    floats: length => allocate(Float32Array, length),
    scratch: length => panelOf(Float32Array, length),
    reset: arena.reset,
    keep(bytes) {
      if (!staysInPlace) return null;
      try {
        const at = heap.allocate(bytes);
        kept++;
        return { buffer, at };
      } catch {
        return null;
      }
    },
    free(at) {
      kept--;
      heap.free(at);
    },
    addressOf(array) {
      // Nothing is stored at address 0. V8 takes 1 µs to make the `buffer` of a new small array.
      const { byteOffset } = array;
      return byteOffset > 0 && buffers.has(array.buffer) ? byteOffset : -1;
    },
    get bytes() {
      return buffer.byteLength;
    },
    get isKept() {
      return kept > 0;
    },
    get generation() {
      return arena.generation;
    },
  };
  return memory;
}

/** A panel whose view is created on demand, because only kernels access most panels. */
class MemoryPanel<A extends PanelArray> implements Panel<A> {
  readonly at: number;
  readonly #buffer: () => ArrayBufferLike;
  readonly #type: PanelArrayType<A>;
  readonly #length: number;
  #values: A | undefined;

  constructor(buffer: () => ArrayBufferLike, type: PanelArrayType<A>, at: number, length: number) {
    this.at = at;
    this.#buffer = buffer;
    this.#type = type;
    this.#length = length;
  }

  get values(): A {
    const buffer = this.#buffer();
    if (this.#values?.buffer !== buffer) this.#values = new this.#type(buffer, this.at, this.#length);
    return this.#values;
  }
}

function viewsOf(buffer: ArrayBufferLike): Pick<Memory, 'f32' | 'f64' | 'i32' | 'u16' | 'u8'> {
  return {
    f32: new Float32Array(buffer),
    f64: new Float64Array(buffer),
    i32: new Int32Array(buffer),
    u16: new Uint16Array(buffer),
    u8: new Uint8Array(buffer),
  };
}
