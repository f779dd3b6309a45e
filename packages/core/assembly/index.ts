export * from './dropout';
export { addProduct, addTransposedProduct, multiplyScores } from './multiply';
export { decodeBf16, decodeF16, encodeBf16, encodeF16, packColumns, packRows } from './pack';
export * from './rows';
export * from './scores';
export * from './softcap';
export * from './softmax';
