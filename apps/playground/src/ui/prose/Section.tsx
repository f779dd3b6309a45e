import type { ReactNode } from 'react';
import { SectionLink } from './SectionLink.tsx';

/** A part of a chapter: its heading can be linked to, and the link copied. */
export function Section(props: {
  readonly id: string;
  readonly title: string;
  readonly children: ReactNode;
}) {
  const { id, title, children } = props;
  return (
    <section className="panel" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`} className="section-title">
        {title} <SectionLink id={`${id}-title`} />
      </h2>
      {children}
    </section>
  );
}
