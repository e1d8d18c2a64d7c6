//! Frequent Chinese characters, to recognize correctly decoded text.

/// Frequent characters, simplified or common to both scripts.
const SIMPLIFIED: &str = "\
    一万三上下不与专世业东两个中为主举么义之也书了争事二于五亚些交产京亲人什今从他代令以们件价任众会传但\
    位住体何作你使便保信候值做像儿元先光克党入全八公共关兵其具内再军农决况准几出分划则利别到制前力办功加\
    务动势包化北区十千半华单南即却历原去县参又及反发取受变口古只叫可台史号司吃各合同名后向听告员周命和品\
    商器四回因团国图土在地场型城基境增士声处备复外多大天太夫头女她好如始委子字学它安完官定实家容对导将小\
    少尔就展属山州工己已市布师帝带常干平年并广应府度建开式张强当形影往很律得德心必快怎思性总息情想意感成\
    我或战所手才打技把投报拉持指据接提支收改放政教数整文料断斯新方族无日早时明是更最月有望朝期本术机权李\
    条来极构林果校样根格次正此步武死段每比民气水求汉江没河治法活派流济海深清游湖源火点热然爱片物特王现理\
    生用由电界病白百的皇目直相省看真眼着知石研示社神种科积称程究空立笑第等算管米类精系红约级纪线组经结给\
    统编网美群老考者而职联股育能自至色花英行表被装西要见观规解言计认让议记许论设证话该语说调象质资走起路\
    身车转较边达过运近还这进远连选通速造道那部都里重量金铁长门问间队阳际院随难集需非面革领题风首马高鱼黄";

/// Traditional forms of the above that differ.
const TRADITIONAL: &str = "\
    並乾亞佈併來係個們備傢傳價兒內兩別則剋劃動務勢區卻參員問喫單噹嚮國圖團報場學實將專對導屬師帶幹幾廣張\
    強彊後從復愛應戰搆據數斷於時曆書會朮東條業極榦構樣機檯權歷氣決沒況準漢濟為無熱爭爾現琯產當發眾瞭祗種\
    稱積箇糰紀約紅級組結給統經網線編縣總繫纔義聯聲職聽臺與舉華萬處號術衹裝裡製複見規親觀計記設許証話該認\
    語說調論證議變讓貲資質車軍較轉辦農迴這連週進遊運過達遠選還邊錶鐵長門開間閤關陽隊際隨隻難電韆領頭題類\
    風颱馬體髮魚麵麼黃點黨齣";

const FIRST: u32 = 0x4E00;
const WORDS: usize = (0xA000 - FIRST as usize) / 64;

/// One bit per character of the block CJK Unified Ideographs.
static FREQUENT: [u64; WORDS] = bits();

const fn bits() -> [u64; WORDS] {
    let mut bits = [0; WORDS];
    let mut tables = [SIMPLIFIED.as_bytes(), TRADITIONAL.as_bytes()];
    let mut table = 0;
    while table < tables.len() {
        // All characters of the block have three bytes in UTF-8.
        while let [a, b, c, rest @ ..] = tables[table] {
            let code = ((*a as u32 & 0x0F) << 12) | ((*b as u32 & 0x3F) << 6) | (*c as u32 & 0x3F);
            bits[((code - FIRST) / 64) as usize] |= 1 << ((code - FIRST) % 64);
            tables[table] = rest;
        }
        table += 1;
    }
    bits
}

pub(super) fn is_frequent(c: char) -> bool {
    let offset = u32::from(c).wrapping_sub(FIRST);
    FREQUENT.get((offset / 64) as usize).is_some_and(|word| word >> (offset % 64) & 1 == 1)
}

pub(super) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_characters_of_both_scripts_are_frequent() {
        for c in "的一是不了在人有我这中国國這來個時後說門".chars() {
            assert!(is_frequent(c), "{c}");
        }
        for c in "鑫龘曌亍仂aあ，　\u{0}\u{10FFFF}".chars() {
            assert!(!is_frequent(c), "{c}");
        }
    }
}
