export { backwardHeads } from './backward';
export { forwardHeads } from './forward';
