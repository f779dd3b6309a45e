export * from './lanes';
export { addLineProducts, multiplyLines } from './matvec';
export * from './panels';
