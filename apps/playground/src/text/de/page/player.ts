import type { Text } from '../../text.ts';

export const player: Text['player'] = {
  playback: 'Wiedergabe',
  rewind: 'Zum Anfang',
  play: 'Abspielen',
  pause: 'Anhalten',
  end: 'Zum Ende',
  back: {
    step: 'Einen Schritt zurück',
    instruction: 'Einen Befehl zurück',
    tile: 'Eine Kachel zurück',
    row: 'Eine Zeile zurück',
    column: 'Eine Spalte zurück',
    visit: 'Einen Besuch zurück',
  },
  next: {
    step: 'Nächster Schritt',
    instruction: 'Nächster Befehl',
    tile: 'Nächste Kachel',
    row: 'Nächste Zeile',
    column: 'Nächste Spalte',
    visit: 'Nächster Besuch',
  },
};
