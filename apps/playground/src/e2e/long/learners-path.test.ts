import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Chapter, chapters } from '../../app/chapters.ts';
import { answers, type QuizId } from '../../exercises/quiz/answers.ts';
import { solutionOf } from '../../logic/kernels/puzzles/programs.ts';
import type { PuzzleId } from '../../logic/kernels/puzzles/puzzles.ts';
import { attentionProblems } from '../../logic/machine/attention/attention-problems.ts';
import { matrixProblems } from '../../logic/machine/matrix/matrix-problems.ts';
import { softmaxProblems } from '../../logic/machine/softmax/softmax-problems.ts';
import { en } from '../../text/en/index.ts';
import { openSite, type Site } from '../site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
}, 120_000);
afterAll(() => site?.close());

const programs = new Map<string, string>(
  [...matrixProblems, ...softmaxProblems, ...attentionProblems].map(({ id, solution }) => [id, solution]),
);

/** The tasks of a chapter, by kind. */
const exercisesOf = ({ tasks }: Chapter): string[] => tasks.filter(task => !task.startsWith('quiz.'));
const quizzesOf = ({ tasks }: Chapter): QuizId[] =>
  tasks.flatMap(task => (task.startsWith('quiz.') ? [task.slice('quiz.'.length) as QuizId] : []));

const screen = (): Site['page'] => site.page;

/** Presses Tab until the focused element matches. */
async function tabTo(selector: string): Promise<void> {
  const there = `document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`;
  for (let pressed = 0; pressed < 400; pressed++) {
    if (await screen().evaluate(there)) return;
    await screen().keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${selector}.`);
}

/** Types a program. The editor must not indent by itself, and its completions must not consume Enter. */
async function type(program: string): Promise<void> {
  for (const line of program.split('\n')) {
    await screen().keyboard.insertText(line.trim());
    await screen().keyboard.press('Escape');
    await screen().keyboard.press('Enter');
  }
}

const verdict = (): ReturnType<Site['page']['locator']> => screen().locator('.workbench .solved');

/** Kernels that miss the lesson, by their puzzle's task: a text of the solution and what replaces it. */
const wrongKernels: Readonly<Record<string, readonly [from: string, to: string]>> = {
  'kernel.naive': ['m = max(m, score(i, j));', ''],
  'kernel.row-softmax': ['part[lane] += part[lane + half];', ''],
  'kernel.streaming-softmax': ['a.y * exp(a.x - m)', 'a.y'],
  'kernel.tiled-forward': ['min(TILE, sizes.n - first)', 'TILE'],
  'kernel.causal-skip': ['(group.x + 1u) * TILE', 'sizes.n'],
  'kernel.delta': ['* o[i * D + c]', ''],
  'kernel.dq': ['(dp - row.y)', 'dp'],
  'kernel.dkv': ['dk_j[c] * sizes.scale', 'dk_j[c]'],
};

/** Writes a wrong kernel, runs it and reads the reason, then writes the right one and runs it. */
async function solveKernel(task: string, keyboardOnly: boolean): Promise<void> {
  const page = screen();
  const solution = solutionOf(task.slice('kernel.'.length) as PuzzleId);
  const [from, to] = wrongKernels[task] ?? ['', ''];
  expect(solution).toContain(from);
  const editor = page.locator('.cm-content');
  // The editor replaces a plain field once the field is near the window.
  await page.locator('.kernel-editor').waitFor();
  await page.evaluate("document.querySelector('.kernel-editor').scrollIntoView()");
  await editor.waitFor();
  if (keyboardOnly) await tabTo('.cm-content');
  else await editor.click();
  for (const [program, verdict] of [
    [solution.replace(from, to), 'broken'],
    [solution, 'solved'],
  ] as const) {
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(program);
    if (keyboardOnly) await page.keyboard.press('Control+Enter');
    else await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator(`.kernel-verdict[data-changed=false] .${verdict}`).waitFor({ timeout: 60_000 });
    if (!keyboardOnly) await editor.click();
  }
}

/** Writes a wrong program, reads what is missing, starts over and writes the right one. */
async function solve(exercise: string, keyboardOnly: boolean): Promise<void> {
  const page = screen();
  const program = programs.get(exercise) ?? '';
  const editor = page.locator('.cm-content');
  await page.locator('.workbench').waitFor();
  await page.evaluate("document.querySelector('.workbench').scrollIntoView()");
  await editor.waitFor();
  if (keyboardOnly) await tabTo('.cm-content');
  else await editor.click();
  // All but the last STORE, so that a required result is missing.
  const lines = program.split('\n');
  const last = lines.map(line => line.trim().startsWith('STORE')).lastIndexOf(true);
  await type(lines.filter((_, n) => n !== last).join('\n'));
  await page.locator('.criteria [data-met=false]').first().waitFor();
  expect(await verdict().count()).toBe(0);
  if (keyboardOnly) {
    await tabTo('.workbench .toolbar .button:not(:disabled)');
    while (!(await page.evaluate("document.activeElement?.textContent === 'Start over'")))
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate("document.activeElement?.matches('.cm-content')")).toBe(true);
  } else {
    await page.getByRole('button', { name: 'Start over' }).click();
    await editor.click();
  }
  await type(program);
  await verdict().waitFor();
}

/** Answers wrongly, gets a nudge, and answers correctly. */
async function answer(id: QuizId, keyboardOnly: boolean): Promise<void> {
  const page = screen();
  const quiz = page.locator(`#quiz-${id}`);
  const key = answers[id];
  const submit = async (): Promise<void> => {
    if (keyboardOnly) {
      await tabTo(`#quiz-${id} button[type=submit]`);
      await page.keyboard.press('Enter');
    } else await quiz.getByRole('button', { name: 'Check' }).click();
  };
  if (key.kind === 'number') {
    const field = quiz.getByRole('textbox');
    for (const value of [key.right + 1, key.right]) {
      if (keyboardOnly) await quiz.getByRole('textbox').focus();
      await field.fill(String(value));
      await submit();
      await quiz.getByText(value === key.right ? 'Right.' : 'Not yet.', { exact: true }).waitFor();
    }
    return;
  }
  const words = en.quizzes[id];
  const count = 'options' in words ? words.options.length : 0;
  const right = [key.right].flat();
  const wrong = Array.from({ length: count }, (_, n) => n).find(n => !right.includes(n)) ?? 0;
  const box = (n: number) => quiz.locator('input').nth(n);
  const choose = async (n: number, checked: boolean): Promise<void> => {
    if (!keyboardOnly) await box(n).setChecked(checked);
    else {
      await box(n).focus();
      await page.keyboard.press('Space');
    }
  };
  await choose(wrong, true);
  await submit();
  await quiz.getByText('Not yet.', { exact: true }).waitFor();
  if (key.kind === 'several') await choose(wrong, false);
  for (const n of right) await choose(n, true);
  await submit();
  await quiz.getByText('Right.', { exact: true }).waitFor();
}

const sizes = [
  { name: 'on a desktop', width: 1440, height: 900, keyboardOnly: false },
  { name: 'on a phone', width: 390, height: 844, keyboardOnly: false },
  { name: 'with the keyboard alone', width: 1440, height: 900, keyboardOnly: true },
] as const;

describe.each(sizes)('a learner $name', ({ width, height, keyboardOnly }) => {
  beforeAll(async () => {
    await site.page.emulateMedia({ reducedMotion: 'reduce' });
    await site.page.setViewportSize({ width, height });
  });

  it.each(chapters.filter(({ tasks }) => tasks.length > 0))(
    'solves everything in the chapter $id, after wrong answers, and it is marked as done',
    async chapter => {
      for (const exercise of exercisesOf(chapter)) {
        const many = exercisesOf(chapter).length > 1;
        await site.page.goto('about:blank');
        const puzzle = exercise.startsWith('kernel.') ? exercise.slice('kernel.'.length) : null;
        const state = puzzle ? `?puzzle=${puzzle}` : many ? `?problem=${exercise}` : '';
        await site.page.goto(`${site.address}?lang=en#/${chapter.id}${state}`);
        await (puzzle ? solveKernel : solve)(exercise, keyboardOnly);
      }
      if (exercisesOf(chapter).length === 0) await site.visit(`?lang=en#/${chapter.id}`);
      for (const id of quizzesOf(chapter)) await answer(id, keyboardOnly);
      await site.page.locator('.chapters [aria-current]', { hasText: '✓' }).waitFor({ state: 'attached' });
    },
    240_000,
  );
});
