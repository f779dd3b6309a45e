import { describe, expect, test } from 'vitest';
import { type Suite, type SuiteOptions, WrongResult } from '../../suite/suite.ts';
import { suites } from '../../suites/index.ts';
import { bench, usage } from './bench.ts';

const suite = (name: string, run: Suite['run']): Suite => ({
  ...{ name, summary: `measures ${name}` },
  options: { size: { value: 'N', meaning: 'how many' }, full: { meaning: 'all of it' } },
  run,
});

async function run(args: readonly string[], ...given: Suite[]) {
  const out: string[] = [];
  const errors: string[] = [];
  const progress: string[] = [];
  const code = await bench(args, given, {
    out: line => out.push(line),
    progress: text => progress.push(text),
    error: line => errors.push(line),
  });
  return { code, out, errors, progress };
}

describe('bench', () => {
  const a = suite('a', async (_, progress) => {
    progress('working');
    return [{ ms: 1.5 }];
  });
  const b = suite('b', async () => [{ ms: 2 }, { ms: 3 }]);

  test('without a suite runs all', async () => {
    const { code, out, progress } = await run([], a, b);
    expect(code).toBe(0);
    expect(out.map(text => text.split('\n')[0])).toEqual(['a: measures a', 'b: measures b']);
    expect(progress).toContain('a: working');
    expect(progress.at(-1)).toBe('');
  });

  test('writes a JSON object per row', async () => {
    const { out } = await run(['b', '--json'], a, b);
    expect(out.map(line => JSON.parse(line))).toEqual([
      { suite: 'b', ms: 2 },
      { suite: 'b', ms: 3 },
    ]);
  });

  test('writes each object as soon as its row is complete', async () => {
    const broken: Suite = {
      ...suite('broken', async () => []),
      async *run() {
        yield { ms: 1 };
        throw new WrongResult('the second is wrong');
      },
    };
    const { code, out, errors } = await run(['broken', '--json'], broken);
    expect({ code, out, errors }).toEqual({
      code: 1,
      out: ['{"suite":"broken","ms":1}'],
      errors: ['the second is wrong'],
    });
  });

  test('hands the options to the suite', async () => {
    let seen: SuiteOptions = {};
    const c = suite('c', async options => {
      seen = options;
      return [];
    });
    await run(['c', '--size', '8', '--full'], c);
    expect(seen).toEqual({ size: '8', full: true });
  });

  test('reports a wrong result instead of a time, with exit code 1', async () => {
    const wrong = suite('wrong', async () => {
      throw new WrongResult('o is off');
    });
    const { code, out, errors } = await run(['wrong'], wrong);
    expect({ code, out, errors }).toEqual({ code: 1, out: [], errors: ['o is off'] });
  });

  test.each([
    ['an unknown suite', ['speed'], "There is no suite 'speed'."],
    ['an unknown option', ['a', '--fast'], "Unknown option '--fast'"],
    ['an option without its suite', ['--size', '3'], "Unknown option '--size'"],
  ])('refuses %s with the usage and exit code 2', async (_, args, message) => {
    const { code, errors } = await run(args, a, b);
    expect(code).toBe(2);
    expect(errors[0]).toMatch(/^Usage: pnpm bench/);
    // The message comes last, where it is still visible after a long usage.
    expect(errors[0].split('\n').at(-1)).toContain(message);
  });
});

test('the usage after the name of a suite has the options of this suite only', async () => {
  const [a, b] = ['a', 'b'].map(name => suite(name, async () => []));
  expect((await run(['--help'], a, b)).out.join()).toMatch(/measures a[\s\S]*measures b/);
  for (const { out, errors } of [await run(['a', '--help'], a, b), await run(['a', '--fast'], a, b)]) {
    const text = [...out, ...errors].join();
    expect(text).toContain('measures a');
    expect(text).not.toContain('measures b');
  }
});

test('the usage describes an option that several suites share only once, and in full for a single suite', () => {
  const shared = { value: 'FILE', meaning: 'where to write' };
  const [a, b] = ['a', 'b'].map(name => ({ ...suite(name, async () => []), options: { trace: shared } }));
  expect(usage([a, b]).match(/where to write/g)).toHaveLength(1);
  expect(usage([a, b]).match(/--trace {2}see below/g)).toHaveLength(2);
  expect(usage([a])).toContain('--trace FILE  where to write');
});

test('the usage breaks long lines between words, and indents the rest', () => {
  expect(usage([suite('wide', async () => [])]).split('\n')).toContain('  wide: measures wide');
  const wide = { ...suite('wide', async () => []), summary: 'word '.repeat(30).trim() };
  const lines = usage([wide]).split('\n');
  const at = lines.findIndex(line => line.startsWith('  wide: word word'));
  expect(lines[at + 1]).toMatch(/^ {6}word( word)*$/);
  expect(`${lines[at]} ${lines[at + 1].trim()}`).toBe(`  wide: ${wide.summary}`);
  expect(
    usage(suites)
      .split('\n')
      .filter(line => line.length > 110),
  ).toEqual([]);
});

describe('suites', () => {
  test('philox measures and names its target', async () => {
    const { code, out } = await run(['philox', '--words', '65536', '--json'], ...suites);
    expect(code).toBe(0);
    const row = JSON.parse(out[0]);
    expect(row).toMatchObject({ suite: 'philox', function: 'fillU32', target: 60 });
    expect(row['M u32/s']).toBeGreaterThan(0);
  }, 30_000);

  test('philox refuses no words', async () => {
    const { code, errors } = await run(['philox', '--words', '0'], ...suites);
    expect(code).toBe(2);
    expect(errors[0]).toContain("--words must be a whole number of at least 4, got '0'.");
  });

  test('attention measures an engine on the requested shapes', async () => {
    const shapes = ['--shapes', '1x2x32x8,2×1×33×16'];
    const args = [
      'attention',
      '--engine',
      'cpu',
      ...shapes,
      '--masks',
      'causal',
      '--dtypes',
      'f32',
      '--json',
    ];
    const { code, out } = await run(args, ...suites);
    expect(code).toBe(0);
    expect(out.map(line => JSON.parse(line))).toMatchObject([
      { engine: 'cpu', pass: 'forward', 'B×H×S×D': '1×2×32×8', mask: 'causal', dtype: 'f32' },
      { engine: 'cpu', pass: 'backward', 'B×H×S×D': '1×2×32×8' },
      { engine: 'cpu', pass: 'forward', 'B×H×S×D': '2×1×33×16', mask: 'causal' },
      { engine: 'cpu', pass: 'backward' },
    ]);
  }, 30_000);

  test('cpu measures the engine next to a matmul, and leaves out onnxruntime-web if it is not installed', async () => {
    const { code, out } = await run(['cpu', '--quick', '--rounds', '1', '--json'], ...suites);
    expect(code).toBe(0);
    const row = JSON.parse(out[0]);
    expect(row).toMatchObject({ suite: 'cpu', 'B×H×S×D': '1×2×512×64', mask: 'causal', onnxruntime: '' });
    for (const name of ['fwd GFLOP/s', 'bwd GFLOP/s', 'matmul', 'fwd ×2 threads']) {
      expect(row[name]).toBeGreaterThan(0);
    }
  }, 60_000);

  test.each([
    ['--rounds', '0', "--rounds must be a whole number of at least 1, got '0'."],
    ['--variant', 'avx', "--variant must be one of wasm-relaxed-simd, wasm-simd, typescript, got 'avx'."],
    ['--onnxruntime', '/nowhere', '--onnxruntime: onnxruntime-web is not installed in /nowhere'],
  ])('cpu refuses %s %s', async (option, value, message) => {
    const { code, errors } = await run(['cpu', '--quick', option, value], ...suites);
    expect(code).toBe(2);
    expect(errors[0]).toContain(message);
  });

  test('train measures an engine on the requested cases', async () => {
    const args = ['train', '--engine', 'cpu', '--cases', 'demo', '--rounds', '1', '--json'];
    const { code, out } = await run(args, ...suites);
    expect(code).toBe(0);
    const row = JSON.parse(out[0]);
    expect(row).toMatchObject({ suite: 'train', case: 'demo', engine: 'cpu' });
    expect(row['tokens/s']).toBeGreaterThan(0);
  }, 60_000);

  test.each([
    ['--cases', 'huge', "--cases must be one of demo, 4x256, got 'huge'."],
    ['--rounds', '0', "--rounds must be a whole number of at least 1, got '0'."],
    ['--python', '/nowhere', '--python: /nowhere has no PyTorch.'],
    ['--peers', '/nowhere', '--peers: no peer is installed in /nowhere'],
  ])('train refuses %s %s', async (option, value, message) => {
    const { code, errors } = await run(['train', '--engine', 'cpu', option, value], ...suites);
    expect(code).toBe(2);
    expect(errors[0]).toContain(message);
  });

  test.each([
    ['--rounds', '1', "--rounds must be a whole number of at least 2, got '1'."],
    ['--model', 'bert', "--model must be one of llama, gpt2, got 'bert'."],
    ['--onnxruntime', '/nowhere', '--onnxruntime: onnxruntime-web is not installed in /nowhere'],
  ])('decode refuses %s %s before it reads the text', async (option, value, message) => {
    const { code, errors, progress } = await run(['decode', option, value], ...suites);
    expect({ code, progress: progress.join('') }).toEqual({ code: 2, progress: '' });
    expect(errors[0]).toContain(message);
  });

  test.each(['abc', '0', '1.5'])('operations refuses --size %s', async size => {
    const { code, errors } = await run(['operations', '--size', size], ...suites);
    expect(code).toBe(2);
    expect(errors[0]).toContain(`--size must be a whole number of at least 1, got '${size}'.`);
  });

  test('tune refuses no time', async () => {
    const { code, errors } = await run(['tune', '--seconds', '0'], ...suites);
    expect(code).toBe(2);
    expect(errors[0]).toContain("--seconds must be a time in seconds, got '0'.");
  });

  test.each([
    ['--engine', 'cuda', "--engine must be one of cpu, webgpu, got 'cuda'."],
    ['--shapes', '1x2x3', "--shapes must be shapes such as 1x4x512x64, got '1x2x3'."],
    ['--dtypes', 'f32,f64', "--dtypes must be one of f32, f16, bf16, got 'f64'."],
    ['--masks', 'none', "--masks must be one of full, causal, got 'none'."],
    ['--peers', '/nowhere', '--peers: no peer is installed in /nowhere'],
    ['--timeout', 'soon', "--timeout must be a number of seconds, got 'soon'."],
  ])('attention refuses %s %s', async (option, value, message) => {
    const { code, errors } = await run(['attention', option, value], ...suites);
    expect(code).toBe(2);
    expect(errors[0]).toContain(message);
  });
});
