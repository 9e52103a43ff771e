/** What the made-up news is made of. People and places do not exist. */

export const PLACES =
  "Saltmere|Aldport|Northwick|Verrin|Ostholm|Kessel Bay|Lower Maren|Tarn|Brightwater|Hollin|Castrel|Veldt Harbour|Quillon|Ambry|Sorrel Heath|Dunmarsh|Ivelby|Port Ansgar|Mirrow|Fallow Hill|Greyhithe|Sandrock|Eastmoor|Linnet Bridge|Orrin Valley|Cape Tolliver|Wexmouth|Halden|Thornby|Ravensea|Upper Merrow|Calder Falls|Stavik|Pelham Sound|Oakhampton|Leyre|Vintra|Skarholm|Redwater|Elmstead".split(
    "|",
  );

export const FIRST_NAMES =
  "Ines|Tobias|Joos|Adela|Marek|Sunniva|Priya|Kofi|Lucía|Henrik|Noor|Yara|Callum|Emeka|Greta|Tomasz|Aisha|Bruno|Ingrid|Dario|Mei|Oskar|Farah|Leif|Rosalind|Ibrahim|Petra|Samuel|Anneke|Viktor|Nadia|Elias|Thandi|Joaquim|Hanne|Ravi|Solveig|Mateus|Zofia|Gwen".split(
    "|",
  );

export const LAST_NAMES =
  "Varga|Renn|Meller|Krons|Halvorsen|Okafor|Lindqvist|Moreau|Castellane|Brandt|Achterberg|Nakamura|Oyelaran|Fitzroy|Delacroix|Sørensen|Whitlock|Abubakar|Pereira|Kowalczyk|Stroud|Iyer|Vanterpool|Hedlund|Marchetti|Quist|Ferreira|Tanaka|Obuya|Rasmussen|Holloway|Petrov|Ndiaye|Lockhart|Amsel|Verhoeven|Castro|Dunleavy|Yilmaz|Bergström".split(
    "|",
  );

export const ROLES =
  "harbour master|deputy mayor|transport minister|chief economist|lead engineer|head of surgery|union secretary|planning officer|marine biologist|central bank governor|police spokeswoman|school inspector|energy regulator|trade envoy|opposition leader|coach|museum director|data protection commissioner|grid operator|farmer and councillor|housing campaigner|epidemiologist|shipping analyst|retired judge|glaciologist|airline executive|software auditor|fire chief|theatre manager|team doctor".split(
    "|",
  );

export const BODIES =
  "the harbour board|the city council|the health ministry|the central bank|the rail regulator|the teachers' union|the fisheries office|the national grid|the supreme court|the coastguard|the competition authority|the water company|the port workers' union|the film institute|the weather service|the football league|the university hospital|the tax office|the space agency|the parliament's budget committee|the largest mobile operator|the ferry line|the regional airline|the farmers' cooperative|the chip maker|the pension fund|the heritage trust|the election commission|the statistics bureau|the road agency".split(
    "|",
  );

/** Follow a body or a role: what it did. */
export const DEEDS =
  "delays the vote on the bay tunnel|cuts fares for night trains|warns of a dry spring|orders a review of old bridges|drops plans for a second runway|agrees to raise nurses' pay|opens its archives after sixty years|bans trawling inside the reef|admits errors in the flood maps|backs a four-day school week|rejects the merger of two ferry lines|sells its stake in the salt works|recalls 40,000 heat pumps|promises fibre to every island|halts work on the stadium roof|pays back hidden bank fees|trials buses without drivers|finds lead in village pipes|loses appeal over the quarry|publishes every contract online|moves the clocks debate to autumn|fines three supermarkets over milk prices|rescues eleven from a drifting barge|plants a forest on the old airfield|lowers its growth forecast again|keeps interest rates where they are|scraps paper tickets from June|blames a software update for the outage|takes the insurers to court|signs a gas deal nobody expected|lets tenants buy their blocks|calls off the regatta for the first time|names its youngest director yet|unveils a telescope the size of a tennis court|traces the outbreak to a single well|turns the prison into a library|puts the old tram line back on the map|raises the alarm over unpaid carers|withdraws the new coin design|settles with the cyclists".split(
    "|",
  );

export const CAUSES =
  "after engineers found cracks in two of the piers|as reserves fall to their lowest in eleven years|despite a petition with 70,000 names|because the contractor ran out of steel|following a night of talks at the customs house|in spite of warnings from its own auditors|as the first cruise ships return to the bay|after a leaked memo showed the true cost|while a rival bid is still on the table|hours before the deadline set by the court|as voters in four districts go to the polls|with only two of nine members against|after the wettest February since records began|under pressure from the islands|for reasons it will not give before Thursday|once the last of the ice has gone|when the old timetable runs out in March|even as passengers come back in numbers|a year after the fire at the cannery|in a ruling that surprised both sides".split(
    "|",
  );

/** Whole sentences; `%P` a person, `%r` a role, `%l` a place, `%b` a body, `%n` a number, `%m` an amount of money. */
export const SENTENCES = [
  "%P, %r in %l, said the figures left “no room for another quiet year”.",
  "The bill comes to %m, of which the region has so far set aside less than a third.",
  "About %n people live close enough to hear the work, and most of them learned of it from the radio.",
  "In %l the reaction was calmer: shops opened as usual and the market was full by nine.",
  "Officials at %b would not say who signed the order, or when they first saw the report.",
  "%P remembers the last time, in a winter when the road to %l was closed for %n days.",
  "Nobody was hurt, but %n households were without water until late in the evening.",
  "The plan was drawn up in %l, where a smaller version has run without trouble since spring.",
  "Shares in the company fell by nearly a tenth before trading was stopped at noon.",
  "A spokesman for %b called the claim careless and promised the full numbers by Friday.",
  "It is the third such case this year, and the first to reach a court outside %l.",
  "Three of the five bidders have already gone home; the other two are said to be talking to each other.",
  "“We asked for a bridge and got a committee,” said %P, who has crossed by boat for twenty years.",
  "The money, some %m, would come from a levy on parking that drivers have fought since January.",
  "Teachers report full classes again, though %n pupils are still taught in the sports hall.",
  "What happens next depends on %b, which meets on Monday behind closed doors.",
  "Satellite pictures show the sandbank has moved %n metres to the east since the harbour wall was raised.",
  "Critics point to %l, where the same promise was made, filmed and quietly forgotten.",
  "The change will save a commuter from %l around %n minutes a day, on paper at least.",
  "Doctors at the clinic saw %n patients in a week, twice what they had planned for.",
  "%P scored in the last minute of a match that %l had led since the kick-off.",
  "The exhibition stays until the end of May; entry is free for anyone who arrives by bicycle.",
  "Researchers followed %n volunteers for six years and found almost the opposite of what they expected.",
  "Fishermen say the herring left first, then the seals, and that nobody in the capital wrote it down.",
  "Tickets sold out in %n minutes, and by evening some were on offer for ten times the price.",
  "According to %P, the fault had been reported twice, in writing, before the pump gave way.",
  "The two governments have not spoken officially since the ferry was turned back off %l.",
  "A second storm is expected over the weekend, with gusts that could close the pass above %l.",
  "The prototype flew for %n seconds, landed upright and tipped over, to applause.",
  "Rents in %l rose faster than anywhere else in the country, by %m a year for a small flat.",
  "The orchestra played on by the light of telephones until %b restored the current.",
  "Under the draft, data older than %n days would have to be deleted unless a judge says otherwise.",
  "Growers expect a harvest a fifth below the average, and blame the late frost rather than the price of diesel.",
  "“It is not a victory, it is a start,” %P told about %n supporters on the steps of the town hall.",
  "Insurers put the damage at %m, not counting the boats that were never insured at all.",
  "The judge gave both sides until the end of the month to agree on a measure of noise.",
];

/** Photographs and teasers are filed under these. */
export const TOPICS =
  "World|Business|Science|Health|Harbour|Sport|Culture|Politics|Technology|Travel|Weather|Education".split("|");

export const MATERIALS =
  "Oak|Brass|Linen|Wool|Enamel|Canvas|Steel|Beech|Leather|Ceramic|Cork|Walnut|Copper|Glass|Cotton|Bamboo".split("|");

export const GOODS =
  "desk lamp|bread knife|travel kettle|picnic rug|rain jacket|chess set|storm lantern|letter box|garden shears|pocket radio|wall clock|coffee grinder|canoe paddle|sewing box|bicycle bell|tea towel set|step ladder|field notebook|camping stove|barometer|salad bowl|door mat|fountain pen|bird feeder|tool roll|writing desk|hammock|thermos flask|alarm clock|measuring jug".split(
    "|",
  );

/** What a shop says of its goods; `%n` a number, `%l` a place. */
export const PRAISE = [
  "Made in a workshop of %n people in %l, and repaired there too, should it ever be needed.",
  "Holds up to %n kilograms and folds flat enough for the shelf above the door.",
  "Our customers in %l asked for a larger one. Here it is, with the old handle.",
  "Tested for %n hours in salt spray; the second one is still outside.",
  "Comes in a box that children will like more than what is in it.",
  "Washable at %n degrees. Do not iron the label, which is printed with soot.",
  "The hinge is the part that breaks first elsewhere, so ours is held by three screws.",
  "Weighs %n grams less than last year's, and is quieter on stone floors.",
  "Delivered within %n days to the mainland, a little later to the islands.",
  "Back in stock after a long winter; the dyer in %l had run out of indigo.",
];
