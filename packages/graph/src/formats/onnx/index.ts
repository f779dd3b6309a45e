export { type ToOnnxOptions, toOnnx } from './export/to-onnx.ts';
export type { OnnxGraph } from './import/build-graph.ts';
export {
  type FromOnnxOptions,
  fromOnnx,
  type OnnxGraphOptions,
  type OnnxInput,
  OnnxModel,
  tensorFromOnnx,
} from './import/from-onnx.ts';
