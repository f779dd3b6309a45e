import { type ComponentType, lazy, Suspense } from 'react';
import { useFirstText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { fontsShown } from '../../ui/styles/fonts.ts';
import { Contents } from './Contents.tsx';
import './home.css';
import { links } from '../../ui/prose/links.ts';

/**
 * The demonstrations load after the page and its fonts, so nobody waits for them to read or to go on. If they
 * cannot be loaded, the page works without them.
 */
const Opening = lazy<ComponentType>(() =>
  fontsShown()
    .then(() => import('../../home/Opening.tsx'))
    .catch(() => ({ default: () => null })),
);

const install = 'npm install @tilewise/core @tilewise/webgpu';
const code = `import { Tensor } from '@tilewise/core';
import { createContext, sdpa } from '@tilewise/webgpu';

const ctx = await createContext(); // or { device } of your own
const q = ctx.upload(Tensor.zeros([1, 8, 1024, 64])); // (B, H, S, D)
const { o } = sdpa(ctx, q, q, q, { causal: true });`;

/** The first page: a description that is shown at once, two doors, the chapters, and the library. */
export function Home() {
  const { home: text } = useFirstText();
  const show = (id: string) => (): void => {
    const section = document.getElementById(id);
    section?.scrollIntoView();
    // The next Tab leads to what is shown, not back to the doors.
    section?.focus({ preventScroll: true });
  };
  return (
    <>
      <header className="hero">
        <h1>{text.heading}</h1>
        <p className="chapter-blurb">{text.blurb}</p>
        <div className="doors">
          <a className="door primary" href="#/overview">
            <strong>{text.doors.learn}</strong>
            <span>{text.doors.learnWhy}</span>
          </a>
          <button type="button" className="door" onClick={show('use')}>
            <strong>{text.doors.use}</strong>
            <span>{text.doors.useWhy}</span>
          </button>
        </div>
      </header>
      <div className="opening">
        <Suspense>
          <Opening />
        </Suspense>
      </div>
      <section className="home-part" aria-labelledby="learn-title">
        <h2 id="learn-title">{text.learn}</h2>
        <Contents readers="learners" />
      </section>
      <section className="home-part" id="use" tabIndex={-1} aria-labelledby="use-title">
        <h2 id="use-title">{text.use}</h2>
        <p>{text.useIntro}</p>
        <ScrollRegion label={text.install}>
          <pre className="program">{install}</pre>
        </ScrollRegion>
        <p>{text.notOnNpm}</p>
        <ScrollRegion label={text.code}>
          <pre className="program">{code}</pre>
        </ScrollRegion>
        {(links.docs ?? links.repository) && (
          <p className="toolbar">
            {links.docs && <a href={links.docs}>{text.docs}</a>}
            {links.repository && <a href={links.repository}>{text.repository}</a>}
          </p>
        )}
      </section>
      <section className="home-part" aria-labelledby="evaluate-title">
        <h2 id="evaluate-title">{text.evaluate}</h2>
        <p>{text.evaluateWhy}</p>
        <Contents readers="evaluators" />
      </section>
    </>
  );
}
