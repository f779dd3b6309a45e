import type { TensorDesc } from '@tilewise/core';
import type { Bindings } from '../bindings/bindings.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { CompiledPartition } from './compiled-partition.ts';
import type { Holding } from './compiled-partition-cache.ts';

/**
 * One holder's view of a compiled partition that equal partitions of other graphs share.
 * @param check refuses bindings for tensors of other graphs.
 */
export function heldPartition<T extends TensorDesc>(
  { shared, letGo }: Holding<T>,
  check: (bindings: Bindings<unknown>) => void,
): CompiledPartition<T> {
  const turns = new SerialQueue('partition');
  const checkCall = (bindings: Bindings<unknown>): void => {
    turns.check();
    check(bindings);
  };
  const prepareEncode: CompiledPartition<T>['prepareEncode'] = bindings => {
    checkCall(bindings);
    const record = shared.prepareEncode(bindings);
    return target => {
      turns.check();
      record(target);
    };
  };
  return {
    ...shared,
    get workspaceBytes() {
      return shared.workspaceBytes;
    },
    async execute(bindings) {
      checkCall(bindings);
      return turns.run(() => shared.execute(bindings));
    },
    encode(target, bindings) {
      prepareEncode(bindings)(target);
    },
    prepareEncode,
    prepareRun(bound) {
      turns.check();
      return turns.isTaken ? null : shared.prepareRun(bound);
    },
    runBound: (bound, trace) => turns.runSoon(() => shared.runBound(bound, trace)),
    release: () => turns.release(letGo),
  };
}
