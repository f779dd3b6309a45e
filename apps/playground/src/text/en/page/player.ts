export const player = {
  playback: 'Playback',
  rewind: 'Rewind',
  play: 'Play',
  pause: 'Pause',
  end: 'To the end',
  back: {
    step: 'Back one step',
    instruction: 'Back one instruction',
    tile: 'Back one tile',
    row: 'Back one row',
    column: 'Back one column',
    visit: 'Back one visit',
  },
  next: {
    step: 'Next step',
    instruction: 'Next instruction',
    tile: 'Next tile',
    row: 'Next row',
    column: 'Next column',
    visit: 'Next visit',
  },
};
