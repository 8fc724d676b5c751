import { Component, type ComponentChildren } from "preact";

import { Text } from "./text";

interface Props {
  of: string; // what fails alone: another one begins anew
  children: ComponentChildren;
}

/** A screen that fails says so in its own place: old numbers must not stand there as if they were new. */
export class Guard extends Component<Props, { failed: string | null }> {
  override state = { failed: null };

  override componentDidCatch(error: unknown): void {
    this.setState({ failed: error instanceof Error ? error.message : String(error) });
  }

  override componentDidUpdate(before: Props): void {
    if (before.of !== this.props.of) {
      this.setState({ failed: null });
    }
  }

  override render({ children }: Props, { failed }: { failed: string | null }) {
    if (failed === null) {
      return children;
    }
    return (
      <div class="panel" role="alert">
        <p>
          This part of the page has failed, and shows nothing: <Text of={failed} most={300} />
        </p>
        <button type="button" onClick={() => this.setState({ failed: null })}>
          Show it again
        </button>
      </div>
    );
  }
}
