import { InvalidArgumentError } from '../../errors.ts';
import { checkHostTensor } from '../../tensor/checks/check-on-host.ts';
import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { Loaders } from './evaluate.ts';

/**
 * Readers of captured host tensors, for `compile`. Reading outside a tensor throws, because on the host it is
 * a mistake in the mod. A device clamps the index instead: it evaluates both sides of a `select`, so a
 * guarded load must not be an error there.
 * @throws InvalidArgumentError for a missing capture, an index of the wrong rank, or an index outside the
 * tensor.
 */
export function hostLoaders(captures: Readonly<Record<string, Tensor>> = {}): Loaders {
  return name => {
    const tensor = Object.hasOwn(captures, name) ? captures[name] : undefined;
    if (tensor === undefined) {
      throw new InvalidArgumentError(`captures.${name}`, 'is missing: the expression loads from it');
    }
    checkHostTensor(`captures.${name}`, tensor);
    const { data, shape, strides, offset } = tensor;
    const { decode } = dtypeInfo[tensor.dtype];
    return index => {
      let at = offset;
      let inside = index.length === shape.length;
      for (let d = 0; d < shape.length; d++) {
        inside &&= index[d] >= 0 && index[d] < shape[d];
        at += index[d] * strides[d];
      }
      if (!inside) {
        const rule = `was loaded at [${index}], outside its shape [${shape}]`;
        throw new InvalidArgumentError(`captures.${name}`, rule);
      }
      return decode(data[at]);
    };
  };
}
