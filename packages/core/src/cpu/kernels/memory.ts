import { TilewiseError } from '../../errors.ts';

/** A stretch of the memory that kernels work on. */
export interface Panel<A extends PanelArray = Float32Array> {
  /** Address of its first byte, a multiple of 16. */
  readonly at: number;
  /** Its elements. Ask again after memory was allocated: growing it moves it. */
  readonly values: A;
}

type PanelArray = Float32Array | Float64Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;

interface PanelArrayType<A extends PanelArray> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, at: number, length: number): A;
}

/** The memory of one set of kernels. A call takes panels from it and gives them all back at once. */
export interface Memory {
  /** A panel of zeros. @throws TilewiseError with code `OUT_OF_MEMORY`. */
  allocate<A extends PanelArray>(type: PanelArrayType<A>, length: number): Panel<A>;
  /** A panel of f32 zeros. */
  floats(length: number): Panel;
  /** A panel of f32 that holds whatever was there before. */
  scratch(length: number): Panel;
  /** Takes all panels back. */
  reset(): void;
  /** All of it as f32 and as other types: the element at address n is `f32[n >> 2]`. */
  readonly f32: Float32Array;
  readonly f64: Float64Array;
  readonly i32: Int32Array;
  readonly u16: Uint16Array;
  readonly u8: Uint8Array;
  /** Bytes that it holds, used or not. */
  readonly bytes: number;
}

/** A buffer that can grow. What it holds survives; earlier views of it do not. */
export interface GrowingBuffer {
  /** As it is at first. */
  readonly buffer: ArrayBufferLike;
  /** Adds at least so many bytes, and gives the buffer that there is then. Throws when there is no room. */
  grow(bytes: number): ArrayBufferLike;
}

const ALIGNMENT = 64;

/** The part of a buffer from `base` on as a memory. */
export function createMemory({ buffer: initial, grow }: GrowingBuffer, base: number): Memory {
  let buffer = initial;
  let views = viewsOf(buffer);
  let top = base;

  function reserve(bytes: number): number {
    const at = Math.ceil(top / ALIGNMENT) * ALIGNMENT;
    const missing = at + bytes - buffer.byteLength;
    if (missing > 0) {
      try {
        buffer = grow(missing);
      } catch (cause) {
        throw new TilewiseError('OUT_OF_MEMORY', `no memory for ${bytes} bytes of tiles`, { cause });
      }
      views = viewsOf(buffer);
    }
    top = at + bytes;
    return at;
  }

  function allocate<A extends PanelArray>(type: PanelArrayType<A>, length: number): Panel<A> {
    const panel = panelOf(type, length);
    panel.values.fill(0);
    return panel;
  }

  function panelOf<A extends PanelArray>(type: PanelArrayType<A>, length: number): Panel<A> {
    const at = reserve(length * type.BYTES_PER_ELEMENT);
    let made = buffer;
    let values = new type(buffer, at, length);
    return {
      at,
      get values() {
        if (made !== buffer) {
          made = buffer;
          values = new type(buffer, at, length);
        }
        return values;
      },
    };
  }

  return {
    allocate,
    floats: length => allocate(Float32Array, length),
    scratch: length => panelOf(Float32Array, length),
    reset() {
      top = base;
    },
    get f32() {
      return views.f32;
    },
    get f64() {
      return views.f64;
    },
    get i32() {
      return views.i32;
    },
    get u16() {
      return views.u16;
    },
    get u8() {
      return views.u8;
    },
    get bytes() {
      return buffer.byteLength;
    },
  };
}

function viewsOf(buffer: ArrayBufferLike) {
  return {
    f32: new Float32Array(buffer),
    f64: new Float64Array(buffer),
    i32: new Int32Array(buffer),
    u16: new Uint16Array(buffer),
    u8: new Uint8Array(buffer),
  };
}
