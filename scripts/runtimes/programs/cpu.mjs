import { smokeCpu } from './smoke.mjs';

console.log(await smokeCpu());
