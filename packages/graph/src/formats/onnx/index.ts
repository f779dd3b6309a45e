export { toOnnx } from './export/to-onnx.ts';
