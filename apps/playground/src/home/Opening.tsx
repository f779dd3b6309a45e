import { LearningModel } from './LearningModel.tsx';
import { MemoryRace } from './MemoryRace.tsx';

/** The first picture of the page: memory that grows, and a model that learns. */
export default function Opening() {
  return (
    <>
      <MemoryRace />
      <LearningModel />
    </>
  );
}
