import { testRandomProblems } from '../../../testing/random-problem-tests.ts';

await testRandomProblems(2);
