import { type ReactNode, Suspense, useRef } from 'react';
import { useNear } from './useNear.ts';

/** Shows its children, which may load their code then, once it is near the window. */
export function WhenNear(props: { readonly className: string; readonly children: ReactNode }) {
  const { className, children } = props;
  const host = useRef<HTMLDivElement>(null);
  const near = useNear(host);
  return (
    <div ref={host} className={className}>
      {near && <Suspense>{children}</Suspense>}
    </div>
  );
}
