import type {
  CompileOptions,
  Graph,
  KnownTensor,
  OperationOptions,
  Partition,
  TensorOptions,
} from '@tilewise/graph';
import type {
  D256Options,
  D256Tensors,
  SdpaArguments,
  SdpaBackwardArguments,
  SdpaFp8Arguments,
  SdpaFp8BackwardArguments,
} from '@tilewise/graph/cudnn';
import type { toJax } from '@tilewise/graph/jax';
import type { FromOnnxOptions, OnnxGraphOptions, toOnnx } from '@tilewise/graph/onnx';
import type { AttentionDropout, AttentionOptions } from '@tilewise/graph/ops';
import type { TorchOptions, toTorch } from '@tilewise/graph/torch';
import { type Closed, none } from './optional.ts';

none<Closed<TensorOptions>>();
none<Closed<AttentionOptions>>();
none<Closed<AttentionDropout>>();
none<Closed<FromOnnxOptions>>();
none<Closed<OnnxGraphOptions>>();
none<Closed<TorchOptions>>();
none<Closed<OperationOptions<'SoftMax'>>>();
none<Closed<KnownTensor>>();
none<Closed<CompileOptions>>();
none<Closed<NonNullable<Parameters<Graph['finalize']>[0]>>>();
none<Closed<NonNullable<Parameters<Graph['partitions']>[0]>>>();
none<Closed<NonNullable<Parameters<Graph['compile']>[1]>>>();
none<Closed<NonNullable<Parameters<Graph['run']>[2]>>>();
none<Closed<NonNullable<Parameters<Partition['compile']>[1]>>>();
none<Closed<SdpaArguments>>();
none<Closed<SdpaBackwardArguments>>();
none<Closed<SdpaFp8Arguments>>();
none<Closed<SdpaFp8BackwardArguments>>();
none<Closed<NonNullable<SdpaArguments['raggedOffsets']>>>();
none<Closed<D256Options>>();
none<Closed<D256Tensors<number>>>();
none<Closed<NonNullable<Parameters<typeof toOnnx>[1]>>>();

/** A page can download what it exports. */
export const exported = (
  model: ReturnType<typeof toOnnx>,
  files: ReturnType<typeof toTorch> | ReturnType<typeof toJax>,
): Blob => new Blob([model, ...Object.values(files)]);
