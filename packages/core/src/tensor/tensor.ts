import {
  checkOptions,
  describeValue,
  InvalidArgumentError,
  InvalidDTypeError,
  InvalidShapeError,
} from '../errors.ts';
import { allocate, allocateBy } from './allocate.ts';
import { checkTensorStorage } from './checks/check-storage.ts';
import { checkOverflow, checkValues } from './checks/check-values.ts';
import { copyStrided } from './copy-strided.ts';
import { decodeArray, encodeArray } from './dtype/convert.ts';
import { type DType, dtypeInfo, type TypedArray } from './dtype/dtype.ts';
import type { Overflow } from './dtype/float-layout.ts';
import {
  contiguousStrides,
  elementCount,
  elementsSpanned,
  isContiguous,
  type Shape,
  type Strides,
} from './shape.ts';
import { checkDesc, copiedDesc, listText, type PartialDesc, type TensorDesc } from './tensor-desc.ts';
import { expandedStrides, reshapedStrides } from './views.ts';

export type { TensorDesc } from './tensor-desc.ts';

/** How a new tensor is stored: by default as f32 without gaps. */
interface StorageOptions {
  readonly dtype?: DType | undefined;
  readonly strides?: Strides | undefined;
}

/**
 * An n-dimensional array on the host. `data[offset + Σ index[d]·strides[d]]` is the element at `index`;
 * 16-bit and 8-bit floats are stored as bit patterns (see `dtypeInfo`).
 */
export class Tensor implements TensorDesc {
  readonly dtype: DType;
  readonly shape: Shape;
  readonly strides: Strides;
  /** The index of the first element in `data`. */
  readonly offset: number;
  /** The storage, which views (`permute`, `slice`, `expand`, `reshape`) and other tensors may share. */
  readonly data: TypedArray;

  private constructor(data: TypedArray, desc: TensorDesc, offset: number) {
    this.data = data;
    this.dtype = desc.dtype;
    this.shape = desc.shape;
    this.strides = desc.strides;
    this.offset = offset;
  }

  /**
   * A new tensor from logical row-major values, each converted once to the dtype: floats round to nearest
   * even, integers truncate and wrap around as in typed arrays, and a bool is true for any value but 0. With
   * `strides`, the storage has that layout, and gaps are 0. `overflow` is for values beyond the largest
   * finite one of f16, bf16 or f8.
   * @throws InvalidShapeError if the number of values is not the product of `shape`; InvalidArgumentError for
   * a value that is not a number and for an unknown option; and as `zeros`.
   */
  static from(
    values: ArrayLike<number>,
    shape: Shape,
    options: StorageOptions & { readonly overflow?: Overflow | undefined } = {},
  ): Tensor {
    checkOptions('options', options, ['dtype', 'strides', 'overflow']);
    checkValues(values);
    checkOverflow(options.overflow);
    const { dtype, strides } = options;
    const t = Tensor.zeros(shape, { dtype, strides });
    if (values.length !== t.size) {
      const rule = `has ${values.length} elements, but shape [${shape}] has ${t.size}`;
      throw new InvalidShapeError('values', rule);
    }
    if (t.isContiguous) encodeArray(t.dtype, values, t.data, options.overflow);
    else {
      const data = encodeArray(t.dtype, values, allocate(t.dtype, t.size), options.overflow);
      copyStrided(shape, { data, offset: 0, strides: contiguousStrides(shape) }, t);
    }
    return t;
  }

  /**
   * A new tensor of zeros (code 0 in every dtype). Its storage ends with its last element, so the stride of a
   * size-1 dimension takes no memory, whatever its value.
   * @throws as `checkDesc`; InvalidArgumentError for an unknown option; TilewiseError with code
   * `OUT_OF_MEMORY`.
   */
  static zeros(shape: Shape, options: StorageOptions = {}): Tensor {
    // The shape is checked before the options, so that `zeros(2, 3)` says what is wrong with the shape.
    const { dtype = 'f32', strides } = options ?? {};
    const desc = copiedDesc(checkDesc({ dtype, shape, strides }));
    checkOptions('options', options, ['dtype', 'strides']);
    return new Tensor(allocate(dtype, elementsSpanned(desc)), desc, 0);
  }

  /**
   * A tensor over existing storage, without a copy. f16, bf16 and f8 data are bit patterns.
   * @throws InvalidShapeError if an element would be outside `data`.
   */
  static wrap(data: TypedArray, desc: PartialDesc & { readonly offset?: number | undefined }): Tensor {
    // A tensor can be passed as a description too.
    checkOptions('desc', desc, ['dtype', 'shape', 'strides', 'offset', 'data']);
    const { offset = 0 } = desc;
    const checked = copiedDesc(checkDesc(desc));
    const { dtype, shape, strides } = checked;
    // Compares tags, so that arrays of other realms, and subclasses such as Node's Buffer, are accepted.
    const expected = dtypeInfo[dtype].allocate(0)[Symbol.toStringTag];
    if (data?.[Symbol.toStringTag] !== expected) {
      const rule = `must be a ${expected}, in which ${dtype} is stored, got ${describeValue(data)}`;
      throw new InvalidDTypeError('data', rule);
    }
    if (!Number.isSafeInteger(offset) || offset < 0) {
      const rule = `must be a non-negative integer, got ${describeValue(offset)}`;
      throw new InvalidArgumentError('offset', rule);
    }
    const end = offset + elementsSpanned(checked);
    if (end > data.length) {
      throw new InvalidShapeError(
        'data',
        `has ${data.length} elements, but shape [${shape}] with strides [${strides}] and offset ${offset} ends at element ${end - 1}`,
      );
    }
    return new Tensor(data, checked, offset);
  }

  /** Number of dimensions. */
  get rank(): number {
    return this.shape.length;
  }

  /** Number of logical elements. */
  get size(): number {
    return elementCount(this.shape);
  }

  /** Whether the elements are stored row-major without gaps. */
  get isContiguous(): boolean {
    return isContiguous(this.shape, this.strides);
  }

  /**
   * The element at a logical index, as a number.
   * @throws InvalidArgumentError for an index outside the shape, or if the tensor has lost its storage.
   */
  get(...index: number[]): number {
    return dtypeInfo[this.dtype].decode(this.data[this.#at(index)]);
  }

  /** Stores a number at a logical index, converted as in `from`. @throws as `get`, and for another value. */
  set(value: number, ...index: number[]): void {
    if (typeof value !== 'number') {
      throw new InvalidArgumentError('value', `must be a number, got ${describeValue(value)}`);
    }
    this.data[this.#at(index)] = dtypeInfo[this.dtype].encode(value);
  }

  /**
   * All elements in logical row-major order, in f32. A copy.
   * @throws InvalidArgumentError if the tensor has lost its storage; TilewiseError with code `OUT_OF_MEMORY`.
   */
  toFloat32(): Float32Array<ArrayBuffer> {
    return this.#decoded(n => new Float32Array(n));
  }

  /** All elements in logical row-major order, in f64. A copy. @throws as `toFloat32`. */
  toFloat64(): Float64Array<ArrayBuffer> {
    return this.#decoded(n => new Float64Array(n));
  }

  /**
   * A copy of the values, stored contiguously in another dtype, and converted as in `from`.
   * @throws InvalidDTypeError for an unknown dtype; InvalidArgumentError for an unknown option; as
   * `toFloat32`.
   */
  cast(dtype: DType, options: { readonly overflow?: Overflow | undefined } = {}): Tensor {
    checkOptions('options', options, ['overflow']);
    checkOverflow(options.overflow);
    checkDesc({ dtype, shape: this.shape });
    if (dtype === this.dtype) return this.contiguous();
    const isFloat = dtypeInfo[this.dtype].kind === 'float';
    const values = isFloat ? this.toFloat32() : this.toFloat64();
    return Tensor.from(values, this.shape, { dtype, overflow: options.overflow });
  }

  /**
   * A contiguous copy of the elements, bit by bit, in row-major order. Copies even if the tensor is
   * contiguous.
   * @throws as `toFloat32`.
   */
  contiguous(): Tensor {
    checkTensorStorage('tensor', this);
    const t = Tensor.zeros(this.shape, { dtype: this.dtype });
    copyStrided(this.shape, this, t);
    return t;
  }

  /**
   * The dimensions in another order; a view. `permute(0, 2, 1, 3)` shows BSHD storage as BHSD.
   * @throws InvalidArgumentError unless `order` has each dimension once.
   */
  permute(...order: number[]): Tensor {
    if (order.length !== this.rank || !this.shape.every((_, d) => order.includes(d))) {
      const rule = `must be a permutation of 0..${this.rank - 1}, got ${listText(order)}`;
      throw new InvalidArgumentError('order', rule);
    }
    const reordered = (dimensions: readonly number[]) => order.map(d => dimensions[d]);
    return this.#view(reordered(this.shape), reordered(this.strides));
  }

  /**
   * Elements `start` to `end` (exclusive) of one dimension; a view.
   * @throws InvalidArgumentError for an unknown dimension, and unless 0 ≤ start ≤ end ≤ its extent.
   */
  slice(dim: number, start: number, end: number): Tensor {
    const extent = Number.isInteger(dim) ? this.shape[dim] : undefined;
    if (extent === undefined)
      throw new InvalidArgumentError('dim', `must be in 0..${this.rank - 1}, got ${describeValue(dim)}`);
    if (!(Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end && end <= extent)) {
      throw new InvalidArgumentError(
        'start, end',
        `must satisfy 0 <= start <= end <= ${extent}, got ${describeValue(start)}, ${describeValue(end)}`,
      );
    }
    const shape = this.shape.map((n, d) => (d === dim ? end - start : n));
    const offset = start === end ? this.offset : this.offset + start * this.strides[dim];
    return this.#view(shape, this.strides, offset);
  }

  /**
   * Broadcasts size-1 and missing leading dimensions to `shape` with stride 0; a view.
   * @throws InvalidShapeError for any other shape.
   */
  expand(shape: Shape): Tensor {
    checkDesc({ dtype: this.dtype, shape });
    return this.#view([...shape], expandedStrides(this.shape, this.strides, shape));
  }

  /**
   * A view of the elements, in row-major order, with another shape.
   * @throws InvalidShapeError if the element counts differ, or if dimensions that would merge are not
   * contiguous with each other; in that case reshape a `contiguous()` copy.
   */
  reshape(shape: Shape): Tensor {
    checkDesc({ dtype: this.dtype, shape });
    return this.#view([...shape], reshapedStrides(this.shape, this.strides, shape));
  }

  /** The offset in `data` of every element, in logical row-major order. */
  *offsets(): Generator<number> {
    const { shape, strides, rank } = this;
    const index = new Array<number>(rank).fill(0);
    let at = this.offset;
    for (let n = this.size; n > 0; n--) {
      yield at;
      for (let d = rank - 1; d >= 0; d--) {
        at += strides[d];
        if (++index[d] < shape[d]) break;
        at -= shape[d] * strides[d];
        index[d] = 0;
      }
    }
  }

  #at(index: readonly number[]): number {
    const inside = (i: number, d: number) => Number.isInteger(i) && i >= 0 && i < this.shape[d];
    if (index.length !== this.rank || !index.every(inside)) {
      throw new InvalidArgumentError('index', `${listText(index)} is outside shape [${this.shape}]`);
    }
    const at = index.reduce((sum, i, d) => sum + i * this.strides[d], this.offset);
    if (at >= this.data.length) checkTensorStorage('tensor', this);
    return at;
  }

  /** This tensor's storage with another shape, strides and offset. */
  #view(shape: Shape, strides: Strides, offset: number = this.offset): Tensor {
    return new Tensor(this.data, { dtype: this.dtype, shape, strides }, offset);
  }

  /** The elements as numbers in row-major order, in a new array. */
  #decoded<A extends Float32Array | Float64Array>(make: (length: number) => A): A {
    checkTensorStorage('tensor', this);
    const { offset, size } = this;
    const stored = this.isContiguous ? this.data.subarray(offset, offset + size) : this.contiguous().data;
    return decodeArray(this.dtype, stored, allocateBy(make, size));
  }
}
