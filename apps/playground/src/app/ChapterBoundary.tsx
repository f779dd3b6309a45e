import { Component, type ReactNode } from 'react';

interface Props {
  readonly failed: string;
  readonly again: string;
  readonly children: ReactNode;
}

/** What is shown when a chapter cannot be loaded or breaks: the reason, and a way to try again. React has this for classes only. */
export class ChapterBoundary extends Component<Props, { readonly error: unknown }> {
  override state: { readonly error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className="panel" role="alert">
        <p>{this.props.failed}</p>
        <p className="note">{error instanceof Error ? error.message : String(error)}</p>
        <div className="toolbar">
          <button type="button" className="button" onClick={() => window.location.reload()}>
            {this.props.again}
          </button>
        </div>
      </div>
    );
  }
}
