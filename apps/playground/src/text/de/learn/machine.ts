import type { Text } from '../../text.ts';

export const machine: Text['machine'] = {
  intro:
    'Der Speicher ist groß und weit weg. Register sind nah, aber es gibt nur wenige. Diese Maschine hat beides, dazu einen Multiplizierer, der seine zwei Operanden nur aus `R0` und `R1` liest. Jeder Befehl dauert einen Takt. Der Trick, der Programme hier schnell macht, macht sie auch auf einer GPU schnell: eine Zahl wiederverwenden, solange sie nah ist.',
  wiring: 'Der Multiplizierer liest',
  wirings: { fixed: 'R0 und R1', any: 'jedes Register' },
  registers: 'Register',
  noProgramForOne: 'Viermal laden, zwei Produkte, einmal speichern: Kein Programm braucht weniger Takte.',
  optimum: registers => `Mit ${registers} Registern braucht kein Programm für diese Maschine weniger Takte.`,
  fewer: (registers, fewest) => `Mit ${registers} Registern genügen ${fewest} Takte.`,
  canItBeFewer: 'Geht es in weniger Takten?',
  fewest: [
    'Wie viele Takte alle vier Elemente mindestens brauchen, wissen wir, weil eine Suche alle Programme durchprobiert hat. Mit mehr Registern bleiben mehr Teilsummen nah, und jede geladene Zahl trifft mehr ihrer Partner, bevor sie ersetzt wird.',
    'Wenn jedes Register den Multiplizierer speisen darf, können auch Operanden in Registern warten. Dann genügen sechs Register, um jede der acht Zahlen nur einmal zu laden: achtmal laden, acht Produkte, viermal speichern. Mit weniger kommt kein Programm aus.',
  ],
  fewestCaption: 'Kleinste Zahl von Takten für das ganze Produkt',
  styles: 'Inneres und äußeres Produkt im Vergleich',
  innerProduct: 'Inneres Produkt',
  outerProduct: 'Äußeres Produkt',
  cyclesInAll: 'Takte für ganz C',
  stylesWhy:
    'Das innere Produkt beendet eine Summe, bevor es die nächste beginnt. Das äußere Produkt hält alle Summen offen, sodass jede geladene Zahl ihre beiden Partner trifft. Vor derselben Wahl stehst du in Kapitel 4 wieder, mit Kacheln statt Zahlen.',
};
