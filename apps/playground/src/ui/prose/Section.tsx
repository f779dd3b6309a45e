import type { ReactNode } from 'react';
import { SectionTitle } from './SectionTitle.tsx';

/** A part of a chapter, with a heading that can be linked to and a button that copies the link. */
export function Section(props: {
  readonly id: string;
  readonly title: string;
  readonly children: ReactNode;
}) {
  const { id, title, children } = props;
  return (
    <section className="panel" aria-labelledby={`${id}-title`}>
      <SectionTitle id={`${id}-title`}>{title}</SectionTitle>
      {children}
    </section>
  );
}
