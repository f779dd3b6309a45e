import { testGoldenCases } from '../../testing/attention/golden-tests.ts';

testGoldenCases(1);
