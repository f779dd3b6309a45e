import { LearningModel } from './LearningModel.tsx';
import { MemoryRace } from './MemoryRace.tsx';

/** What the first page shows at once: memory that grows, and a model that learns. */
export default function Opening() {
  return (
    <>
      <MemoryRace />
      <LearningModel />
    </>
  );
}
