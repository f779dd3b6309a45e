import { testRandomProblems } from '../../../testing/random-problems/random-problem-tests.ts';

await testRandomProblems(3);
