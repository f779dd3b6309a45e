export { toOnnx } from './to-onnx.ts';
